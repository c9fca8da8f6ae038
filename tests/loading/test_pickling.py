"""A loader belongs to its process: pickling and copying say so, and what to do instead."""

import copy
import pickle

import pytest

from penstock import Loader, LoaderError


@pytest.mark.parametrize("carry", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_loader_cannot_be_carried_elsewhere(folder, carry):
    loader = Loader(folder, output="numpy")
    with pytest.raises(LoaderError, match=r"cannot be pickled or copied.*load_state_dict"):
        carry(loader)


def test_its_state_can(folder):
    loader = Loader(folder, output="numpy", seed=3)
    other = Loader(folder, output="numpy", seed=3)
    other.load_state_dict(pickle.loads(pickle.dumps(loader.state_dict())))  # noqa: S301 (our own bytes)
    assert other.state_dict() == loader.state_dict()


def test_a_loader_is_no_dataset(folder):
    """Inside a torch DataLoader it would be asked for single samples."""
    with pytest.raises(LoaderError, match="instead of a torch DataLoader, not inside one"):
        Loader(folder)[0]
