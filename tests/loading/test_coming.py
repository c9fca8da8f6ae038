"""What frameworks look for in a DataLoader is there, and true."""

import pytest

from penstock import Echo, Loader
from penstock import transforms as T

ECHOED = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip()])


def make(folder, **options):
    files = sorted(folder.rglob("*.jpg"))
    defaults = {"transform": T.Resize((8, 8)), "batch_size": 4, "output": "numpy", "seed": 2}
    return Loader(files, labels=range(len(files)), **{**defaults, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop_last": True},
        {"rank": 1, "world_size": 2},
        {"samples_per_epoch": 20_000, "weights": range(1, 24)},
    ],
)
@pytest.mark.parametrize("batch_size", [1, 3, 5_000])
def test_batches_looked_up_together_are_those_looked_up_alone(folder, options, batch_size):
    """Several are looked up at once, more and more of them: it changes none."""
    loader = make(folder, **({"shuffle": True} | options), batch_size=batch_size)
    coming = loader._course.to_come()

    together = list(coming.batches())
    some = [*range(0, len(together), 97), len(together) - 1] if together else []

    assert len(together) == coming.batch_count()
    for number in some:
        alone = coming.batch(0, number)
        assert together[number].samples.tolist() == alone.samples.tolist()
        assert together[number].keys.tolist() == alone.keys.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": True},
        {"shuffle": True, "drop_last": True},
        {"shuffle": True, "rank": 1, "world_size": 2},
        {"weights": range(23), "samples_per_epoch": 30},
        {"indices": [4, 9, 4, 1]},
        {"shuffle": True, "reuse": Echo(2), "transform": ECHOED},
    ],
)
def test_samplers_list_what_comes(folder, options):
    loader = make(folder, **options)
    for _ in range(2):
        batches, samples = list(loader.batch_sampler), list(loader.sampler)
        counts = len(loader.batch_sampler), len(loader.sampler)
        came = [labels.tolist() for _, labels in loader]

        assert came == batches
        assert samples == [sample for batch in came for sample in batch]
        assert counts == (len(came), len(samples)) == (len(loader), len(samples))


@pytest.mark.parametrize("drop_last", [False, True])
def test_after_a_state_was_loaded_they_list_the_rest(folder, drop_last):
    loader = make(folder, shuffle=True, drop_last=drop_last)
    whole = list(loader.batch_sampler)
    iterator = iter(loader)
    next(iterator)
    other = make(folder, shuffle=True, drop_last=drop_last)
    other.load_state_dict(loader.state_dict())

    assert list(other.batch_sampler) == whole[1:]
    assert len(other.batch_sampler) == len(whole) - 1
    assert len(other.sampler) == sum(map(len, whole[1:]))


def test_the_other_attributes_of_a_data_loader(folder):
    loader = make(folder, drop_last=True, prefetch=3)
    assert loader.dataset is loader.source
    assert (loader.num_workers, loader.persistent_workers) == (0, False)
    assert (loader.collate_fn, loader.generator) == (None, None)
    assert (loader.drop_last, loader.prefetch_factor, loader.pin_memory) == (True, 3, False)
    assert (loader.batch_sampler.batch_size, loader.batch_sampler.drop_last) == (4, True)
    assert list(loader.batch_sampler.sampler) == list(loader.sampler)
