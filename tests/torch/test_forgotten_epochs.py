"""A Dataset with a seed that nobody tells its epoch draws all epochs alike, and says so once."""

import copy
import os
import pickle
import warnings

import pytest

from penstock import transforms as T

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader as TorchLoader  # noqa: E402 (optional)
from torch.utils.data import Subset  # noqa: E402 (the same)

from penstock.torch import DataLoader, Dataset  # noqa: E402 (the same)

RANDOM = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip()])
FORGOTTEN = r"46 samples were made of 23 .* epoch 0.* never called.*dataset\.set_epoch\(epoch\)"


@pytest.fixture
def silent():
    """Any warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_the_end_of_a_second_epoch_warns_once(folder, recwarn):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    loader = TorchLoader(dataset, batch_size=4, shuffle=True)
    list(loader)
    assert not recwarn.list
    with pytest.warns(UserWarning, match=FORGOTTEN):
        list(loader)
    recwarn.clear()
    list(loader)
    list(loader)
    assert not recwarn.list


@pytest.mark.parametrize("persistent", [False, True])
def test_worker_processes_count_together(folder, capfd, persistent):
    """Their warnings go to their standard error; here, where they are forked, that is ours."""
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    loader = TorchLoader(
        dataset,
        batch_size=4,
        num_workers=2,
        persistent_workers=persistent,
        multiprocessing_context="fork",
        worker_init_fn=_show_warnings,
    )
    # Two workers that count at the very same time may lose a batch, or both warn.
    for _ in range(4):
        list(loader)
    assert capfd.readouterr().err.count("set_epoch was never called") in {1, 2}


def _show_warnings(_worker):
    warnings.resetwarnings()
    warnings.showwarning = _write_to_standard_error


def _write_to_standard_error(message, *_):
    os.write(2, f"{message}\n".encode())


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("told", [0, 3])
def test_who_tells_an_epoch_knows(folder, told):
    """Even if it is told once only: an epoch may well be repeated on purpose."""
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    dataset.set_epoch(told)
    for _ in range(3):
        list(TorchLoader(dataset, batch_size=8))


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(
    "options",
    [
        {"transform": T.Compose([T.Resize((8, 8)), T.ToDtype("float32", scale=True)]), "seed": 1},
        {"transform": T.Compose([T.Resize((8, 8)), T.PythonStep(lambda image: image)]), "seed": 1},
        {"transform": RANDOM},
    ],
    ids=["nothing drawn", "a function", "no seed"],
)
def test_what_draws_nothing_or_anew_is_silent(folder, options):
    dataset = Dataset(folder, **options)
    for _ in range(3):
        list(TorchLoader(dataset, batch_size=8))


@pytest.mark.usefixtures("silent")
def test_looking_at_samples_is_silent(folder):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    for _ in range(3):
        list(dataset)
    dataset.__getitems__([3] * 60)  # each of these is drawn anew
    list(TorchLoader(dataset, batch_size=4))
    next(iter(TorchLoader(dataset, batch_size=4)))


@pytest.mark.usefixtures("silent")
def test_our_loader_counts_by_itself(folder):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    for _ in range(3):
        list(DataLoader(dataset, batch_size=8))
        list(DataLoader(Subset(dataset, range(20)), batch_size=8))


@pytest.mark.parametrize("carry", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])  # noqa: S301 (our own bytes)
def test_a_copy_counts_on_by_itself(folder, carry):
    dataset = Dataset(folder, transform=RANDOM, seed=1)
    dataset.__getitems__(range(23))
    other = carry(dataset)
    dataset.__getitems__(range(22))
    with pytest.warns(UserWarning, match=FORGOTTEN):
        other.__getitems__(range(23))
    with pytest.warns(UserWarning, match=FORGOTTEN):
        dataset.__getitems__([22])
