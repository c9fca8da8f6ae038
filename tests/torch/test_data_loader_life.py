"""Threads of our DataLoader: when they end, and what becomes of it in other processes."""

import copy
import gc
import pickle
import subprocess
import sys
import textwrap
import threading

import pytest

from penstock import LoaderError
from penstock import transforms as T
from torch_samples import RANDOM, same_kinds

torch = pytest.importorskip("torch")

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)


@pytest.fixture
def dataset(folder):
    return Dataset(folder, transform=RANDOM, seed=5)


def threads_since(before):
    """Names of our threads that have begun since, and do not end."""
    begun = [t for t in threading.enumerate() if t.name.startswith("penstock-")]
    left = [thread for thread in begun if thread not in before]
    for thread in left:
        thread.join(10)
    return [t.name for t in left if t.is_alive()]


def test_leaving_early_and_going_away(dataset):
    before = threading.enumerate()
    loader = DataLoader(dataset, 2)
    for _ in loader:
        break
    assert len(list(loader)) == 12
    first, second = iter(loader), iter(loader)
    assert len(list(zip(first, second, strict=True))) == 12
    del loader, first, second
    gc.collect()
    assert threads_since(before) == []


def test_closing(dataset):
    before = threading.enumerate()
    loader = DataLoader(dataset, 2)
    iterator = iter(loader)
    next(iterator)
    loader.close()
    assert threads_since(before) == []
    with pytest.raises(LoaderError, match="closed"):
        list(iterator)
    assert len(list(loader)) == 12


def test_an_exception_in_the_loop_or_in_collate_leaves_it_usable(dataset):
    loader = DataLoader(dataset, 2, collate_fn=lambda samples: 1 / (samples[0][1] - 1))
    with pytest.raises(ZeroDivisionError):
        list(loader)
    loader.collate_fn = len
    assert sum(loader) == 23


@pytest.mark.parametrize("carry", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])  # noqa: S301 (our own bytes)
def test_a_loader_can_be_carried_elsewhere(dataset, carry):
    """Before it was iterated: torchdata, once imported, keeps iterators in torch's own samplers."""
    loader = DataLoader(dataset, 4, shuffle=True, batch_transform=T.CutMix(num_classes=3), seed=1)
    other = carry(loader)
    torch.manual_seed(1)
    expected = list(loader)
    torch.manual_seed(1)
    assert same_kinds(list(other), expected)


def test_a_forked_child_works_by_itself_and_exits_are_clean(folder):
    script = f"""
    import os, warnings
    warnings.simplefilter("ignore")
    from penstock import transforms as T
    from penstock.torch import DataLoader, Dataset
    loader = DataLoader(Dataset({str(folder)!r}, transform=T.RandomResizedCrop(16), seed=1), 4)
    it = iter(loader)
    next(it)
    child = os.fork()
    if child == 0:
        os._exit(sum(len(labels) for _, labels in loader))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 23
    assert sum(len(labels) for _, labels in it) == 19
    next(iter(loader))  # and leave in the middle
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
