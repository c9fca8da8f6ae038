"""Samples of a Dataset are the same in worker processes, after forks and when it is unpickled."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import pytest

from layout_samples import LAYOUTS
from penstock import Loader, SourceError, pack
from penstock import transforms as T
from penstock.errors import PackError
from torch_samples import MANY_SIZES, RANDOM, same

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (the same)

from penstock.torch import Dataset  # noqa: E402 (the same)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_worker_processes_follow_the_epoch(folder, start):
    """Persistent ones too: the epoch lies in memory that they share."""
    dataset = Dataset(folder, transform=RANDOM, seed=5)
    dataset[0]  # the engine of this process is not taken along
    theirs = TorchLoader(
        dataset,
        batch_size=4,
        num_workers=2,
        persistent_workers=True,
        multiprocessing_context=start,
    )
    loader = Loader(folder, transform=RANDOM, seed=5, batch_size=4)
    for epoch in (0, 1, 6):
        dataset.set_epoch(epoch)
        loader.set_epoch(epoch)
        assert same(list(theirs), [list(batch) for batch in loader])


def test_worker_processes_draw_by_torchs_seed(folder):
    loader = TorchLoader(Dataset(folder, transform=RANDOM), batch_size=4, num_workers=2)
    torch.manual_seed(11)
    first, second = list(loader), list(loader)
    torch.manual_seed(11)
    assert same(list(loader), first)
    assert not same(first, second)


class Threads(torch.utils.data.Dataset):
    """Says how many threads a Dataset works with, wherever it is asked."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return 2

    def __getitem__(self, index):
        self.dataset[index]
        return self.dataset._engine._pipeline.options.threads


def test_a_worker_process_has_one_thread(folder, monkeypatch):
    monkeypatch.setattr("penstock.loading.ranks.usable_cores", lambda: 3)
    counting = Threads(Dataset(folder, transform=RANDOM))
    assert counting[0] == 3
    assert list(TorchLoader(counting, num_workers=1)) == [torch.tensor([1])] * 2
    given = Threads(Dataset(folder, transform=RANDOM, threads=2))
    assert list(TorchLoader(given, num_workers=1)) == [torch.tensor([2])] * 2


def test_worker_processes_may_be_forked_while_threads_are_at_work(folder):
    """From the first batch on, when modules are imported and engines started."""
    script = f"""
    import threading
    import torch
    from torch.utils.data import DataLoader as TorchLoader
    from penstock import transforms as T
    from penstock.torch import DataLoader, Dataset
    dataset = Dataset({str(folder)!r}, transform=T.RandomResizedCrop(16), seed=1)
    ended = threading.Event()
    def load():
        loader = DataLoader(dataset, 2)
        while not ended.is_set():
            list(loader)
    def ask():
        while not ended.is_set():
            dataset[3]
    threads = [threading.Thread(target=load), threading.Thread(target=ask)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            theirs = TorchLoader(dataset, 4, num_workers=2, timeout=40)
            assert sum(len(labels) for _, labels in theirs) == 23
    finally:
        ended.set()
    for thread in threads:
        thread.join()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("carry", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])  # noqa: S301 (our own bytes)
def test_a_dataset_can_be_carried_elsewhere(folder, carry):
    dataset = Dataset(folder, transform=RANDOM, seed=5, columns=["name"], as_dict=True)
    dataset.set_epoch(2)
    other = carry(dataset)
    assert other.epoch == 2
    assert same(other[3], dataset[3])
    dataset.set_epoch(4)
    assert other.epoch == 2, "it is another one"
    assert other._epoch._numbers.is_shared()


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_read_in_other_processes(tmp_path, name):
    """Forked while this process reads it, too; or opened anew where it is unpickled."""
    write, library = LAYOUTS[name]
    if library is not None:
        pytest.importorskip(library)
    dataset = Dataset(write(tmp_path / "data"), transform=MANY_SIZES, seed=3)
    expected = dataset.__getitems__(range(len(dataset)))
    theirs = TorchLoader(
        dataset, batch_size=3, num_workers=1, multiprocessing_context="fork", collate_fn=list
    )
    assert same([sample for batch in theirs for sample in batch], expected)
    carried = pickle.loads(pickle.dumps(dataset))  # noqa: S301 (our own bytes)
    assert same(carried.__getitems__(range(len(dataset))), expected)


def test_data_that_was_changed_is_not_taken_for_the_same(folder, tmp_path):
    packed = tmp_path / "a.pen"
    pack(folder, packed, progress=False)
    carried = pickle.dumps(Dataset(packed, transform=RANDOM))
    packed.unlink()
    pack([folder / "class_0" / "000.jpg"], packed, labels=[0], progress=False)
    with pytest.raises(PackError, match="packed anew"):
        pickle.loads(carried)  # noqa: S301 (our own bytes)

    path = LAYOUTS["webdataset"][0](tmp_path / "data")
    carried = pickle.dumps(Dataset(path, transform=MANY_SIZES))
    for file in [path, *path.rglob("*.tar")]:
        os.utime(file, (1, 1))
    with pytest.raises(SourceError, match="changed since it was opened"):
        pickle.loads(carried)  # noqa: S301 (our own bytes)


def test_closing_ends_the_threads(folder):
    before = set(threading.enumerate())  # those of other tests may be on their way out
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    first = dataset[0]
    assert set(threading.enumerate()) - before
    dataset.close()
    assert not set(threading.enumerate()) - before
    assert same(dataset[0], first)


def test_samples_travel_as_lists(folder):
    samples = Dataset(folder, transform=T.Resize((8, 9))).__getitems__([0, 1])
    carried = pickle.loads(pickle.dumps(samples))  # noqa: S301  our own bytes
    assert type(carried) is list
    assert [label for _, label in carried] == [label for _, label in samples]
