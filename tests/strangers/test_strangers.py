"""Each stranger gives the same batches from a seed; and what it is accelerated to gives these."""

import random
from functools import cache

import numpy as np
import pytest

pytest.importorskip("torch")

from penstock import TranslationError
from tests.strangers.compare import NO_WAY, accelerated, batches, has_way, same
from tests.strangers.data import make_data
from tests.strangers.decoders import decoders
from tests.strangers.forty import STRANGERS
from tests.strangers.stranger import Args

EPOCHS = 2
SEED = 3
# Two processes are started for every epoch. Those for which workers matter most are not slow.
WITH_WORKERS = {
    *("dino", "lmdb_bytes", "cached_images", "opencv_albumentations", "detection_tv_tensors"),
    *("class_balanced", "captions_padded", "super_resolution", "skips_broken"),
    *("own_random_state", "starts_with_random", "iterable_stream"),
}
CASES = [
    pytest.param(
        *(stranger, workers),
        id=f"{stranger.name}-{workers}",
        marks=[pytest.mark.slow] if workers and stranger.name not in WITH_WORKERS else [],
    )
    for stranger in STRANGERS
    for workers in (0, 2)
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return str(make_data(tmp_path_factory.mktemp("strangers")))


@pytest.fixture(autouse=True)
def _ready(request, torchvision):
    """What the stranger at hand needs is there."""
    stranger = getattr(request.node, "callspec", None) and request.node.callspec.params["stranger"]
    if stranger and stranger.missing:
        pytest.skip(f"not installed: {', '.join(stranger.missing)}")
    with decoders():
        yield


@cache
def original(stranger, args):
    """What its own DataLoader gives, computed once for all tests."""
    return batches(stranger.make(args), SEED, EPOCHS)


@pytest.mark.parametrize(("stranger", "workers"), CASES)
def test_a_stranger_gives_the_same_batches_from_a_seed(stranger, data, workers):
    """Or a comparison would say nothing."""
    args = Args(data, workers=workers)
    first = original(stranger, args)
    again = batches(stranger.make(args), SEED, EPOCHS if workers == 0 else 1)

    assert all(len(epoch) >= 2 for epoch in first)
    if stranger.reproducible:
        same(first[: len(again)], again)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda one: one.name)
def test_a_stranger_draws_from_the_generators_that_it_names(stranger, data):
    """Nothing is said of torch's, from which every DataLoader draws."""
    generators = {"random": random.getstate, "numpy": lambda: np.random.get_state()[1:3]}  # noqa: NPY002  what strangers draw from
    loader = stranger.make(Args(data))
    assert batches(loader, SEED, 0) == []
    before = {name: repr(state()) for name, state in generators.items()}
    list(loader)
    drawn = {name for name, state in generators.items() if repr(state()) != before[name]}

    assert drawn == set(stranger.randomness) & set(generators)


@pytest.mark.skipif(not has_way(), reason=NO_WAY)
@pytest.mark.parametrize(("stranger", "workers"), CASES)
def test_accelerated_batches_are_those_of_the_stranger(stranger, data, workers):
    args = Args(data, workers=workers)
    try:
        loader = accelerated(stranger.make(args))
    except TranslationError as refused:
        assert stranger.expect == "refused", f"{stranger.name}: {refused}"
        assert stranger.reason in str(refused)
        return
    assert stranger.expect == "taken", f"{stranger.name} was taken:\n{loader.translation}"
    same(original(stranger, args), batches(loader, SEED, EPOCHS))


def test_most_are_expected_to_be_taken():
    names = [stranger.name for stranger in STRANGERS]

    assert len(set(names)) == len(names) >= 40
    assert sum(stranger.expect == "taken" for stranger in STRANGERS) >= 36
