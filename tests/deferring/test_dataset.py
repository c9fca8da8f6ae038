import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from PIL import Image
from torch.utils.data import BatchSampler, DataLoader, Subset, get_worker_info
from torchvision.transforms import functional as TF

from penstock import TranslationError
from penstock.deferring import carry_out
from penstock.deferring.dataset import deferral_of
from penstock.translation.deferred import deferred_loader
from tests.deferring.conftest import BROKEN, COUNT
from tests.deferring.loaders import SEED, Files, Sample, loaders, same
from tests.strangers.compare import batches, difference


class ByLists(Files):
    def __getitem__(self, index):
        if isinstance(index, list):
            return torch.stack([self.tensor(one) for one in index])
        return self.tensor(index)

    def __getitems__(self, indices):
        return tuple(self.tensor(index) * 2 for index in indices)


class WholeBatches(Files):
    def __getitems__(self, indices):
        return {"images": torch.stack([self.tensor(index) for index in indices]), "n": indices}


def test_samples_are_asked_for_as_torch_asks(files):
    same(ByLists, files)
    sampler = BatchSampler(range(COUNT), 3, drop_last=False)
    same(ByLists, files, batch_size=None, sampler=sampler)
    same(WholeBatches, files, collate_fn=_itself)


def _itself(batch):
    return batch


class HasState(Files):
    factor = 1.0
    counts = "mine"
    rng = None

    def __getitem__(self, index):
        drawn = 1.0 if self.rng is None else float(self.rng.random())
        return self.tensor(index) * self.factor * drawn

    def double(self):
        self.factor *= 2


def test_the_dataset_of_a_loader_is_the_users(files):
    dataset = HasState(files)
    loader = deferred_loader(DataLoader(Subset(dataset, [1, 2])), None)
    assert loader.dataset.dataset is dataset
    assert isinstance(loader.dataset, Subset)
    loader.dataset.indices = [3]
    assert len(loader) == 1

    loader = deferred_loader(DataLoader(dataset), None)
    assert loader.dataset.counts == "mine"
    loader.dataset.factor = 3.0
    loader.dataset.double()
    assert dataset.factor == 6.0
    assert torch.equal(loader.dataset[1], dataset[1])
    del loader.dataset.factor
    assert dataset.factor == 1.0
    with pytest.raises(AttributeError, match="nothing"):
        loader.dataset.nothing  # noqa: B018 (it is not there)


def _give_generator(number):
    get_worker_info().dataset.rng = np.random.default_rng(number)
    assert isinstance(get_worker_info().dataset, HasState)


@pytest.mark.parametrize("context", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_what_a_worker_sets_reaches_the_dataset(files, context):
    same(
        HasState,
        files,
        epochs=1,
        num_workers=1,
        worker_init_fn=_give_generator,
        multiprocessing_context=context,
    )


class Replaces(Files):
    """A damaged file by a picture at random."""

    def __init__(self, files):
        super().__init__(files)
        self.rng = np.random.default_rng(1)

    def __getitem__(self, index):
        try:
            image = self.image(index).resize((6, 6))
        except OSError:
            image = Image.new("RGB", (6, 6), (random.randrange(256), self.rng.integers(256), 3))
        return TF.to_tensor(image) * float(torch.rand(()))


class ReplacesInThreads(Replaces):
    def __getitem__(self, index):
        opened = [Image.open(self.files[one]) for one in (index, (index + 1) % COUNT)]
        with ThreadPoolExecutor(2) as threads:
            return torch.stack(list(threads.map(self._resized, opened)))

    def _resized(self, image):
        try:
            return TF.to_tensor(image.resize((6, 6)))
        except OSError:
            return torch.zeros(3, 6, 6)


class ReplacesAnything(Replaces):
    def __getitem__(self, index):
        try:
            return TF.to_tensor(self.image(index).rotate(10).resize((6, 6)))
        except Exception:
            return torch.zeros(3, 6, 6)


class KeepsOthers(Files):
    """Images that were opened for the batch with the damaged one."""

    def __getitem__(self, index):
        if index == BROKEN:
            try:
                return self.image(index).resize((5, 5))
            except OSError:
                return Image.new("RGB", (5, 5))
        if index not in self.cache:
            self.cache[index] = self.image(index)
        return self.cache[index]


class Hides(Files):
    """In a place where nobody looks."""

    def __getitem__(self, index):
        try:
            return Sample(self.tensor(index), index)
        except OSError:
            return Sample(torch.zeros(3, 6, 8), -1)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("dataset", [Replaces, ReplacesInThreads], ids=lambda one: one.__name__)
def test_a_damaged_file_is_the_users_to_replace(damaged, dataset, workers):
    same(dataset, damaged, num_workers=workers)


@pytest.mark.parametrize(
    "dataset", [ReplacesAnything, KeepsOthers, Hides], ids=lambda one: one.__name__
)
def test_a_damaged_file_is_replaced_in_other_ways_too(damaged, dataset):
    same(dataset, damaged, collate_fn=list)


def test_a_damaged_file_that_nobody_expects_is_pillows_to_report(damaged):
    loader = loaders(Files, damaged)[1]
    with pytest.warns(UserWarning, match="asked for again"), pytest.raises(OSError, match="broken"):
        list(loader)


class MakesGenerator(Files):
    def __getitem__(self, index):
        self.rng = np.random.default_rng(index)
        return self.tensor(index)


def test_a_batch_that_cannot_be_asked_for_again_is_refused(damaged):
    loader = loaders(MakesGenerator, damaged)[1]
    with (
        pytest.warns(UserWarning, match="asked for again"),
        pytest.raises(TranslationError, match="random generator"),
    ):
        list(loader)


class Raises(Files):
    error = None

    def __getitem__(self, index):
        if index == BROKEN and self.error is not None:
            raise self.error
        return self.tensor(index)


@pytest.mark.filterwarnings("ignore:accelerate")
@pytest.mark.parametrize("error", [LookupError("mine"), StopIteration(), KeyboardInterrupt()])
def test_errors_of_the_user_stay_what_they_are(files, error):
    usual, ours = loaders(Raises, files)
    for loader in (usual, ours):
        loader.dataset.error = error
        raised = []
        try:
            list(loader)
        except BaseException as found:  # whatever comes
            raised.append((type(found), str(found)))
        loader.dataset.error = None

        assert len(list(loader)) == 3
        assert raised == [(type(error), str(error))] or isinstance(error, StopIteration)


def test_a_file_that_vanishes_is_missed(files, tmp_path):
    copies = [Path(shutil.copy(path, tmp_path)) for path in files]
    loader = loaders(Files, copies)[1]
    assert len(list(loader)) == 3
    copies[BROKEN].unlink()
    with pytest.warns(UserWarning, match="asked for again"), pytest.raises(FileNotFoundError):
        list(loader)


@pytest.mark.filterwarnings("ignore:accelerate")
@pytest.mark.parametrize("error", [MemoryError("none left"), RuntimeError("a mistake of ours")])
def test_where_ours_fails_images_are_ordinary(files, monkeypatch, error):
    usual, ours = loaders(Files, files)
    expected = batches(usual, SEED, 2)

    def fail(*_args):
        raise error

    monkeypatch.setattr(carry_out, "_run", fail)

    assert difference(expected, batches(ours, SEED, 2)) is None
    assert deferral_of(vars(ours)["dataset"]).counts.again == 4  # then they stay ordinary


def refuses_others(array):
    """As code in C may do that wants memory at once."""
    if type(array) is not np.ndarray:
        raise TypeError("an array is needed")
    return array


class Strict(Files):
    """Arrays that are given to such code."""

    def __getitem__(self, index):
        image = self.image(index).resize((8, 6))
        return refuses_others(np.asarray(image)).mean(), self.tensor(index)


def test_arrays_that_are_refused_are_ordinary_from_then_on(files):
    same(Strict, files)
    _, ours = loaders(Strict, files)
    with pytest.warns(UserWarning, match="asked for again"):
        list(ours)
    counts = deferral_of(ours.dataset).counts

    assert counts.again == 1
    assert counts.deferred > len(files)  # images wait as before
