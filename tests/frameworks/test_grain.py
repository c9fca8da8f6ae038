"""Grain: the samples of a Loader, in Grain's order, resumable and in any process."""

import pickle

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError
from python_child import run_python

grain = pytest.importorskip("grain", reason="Grain is not installed")
flags = pytest.importorskip("absl.flags", reason="absl is not installed")
pg = pytest.importorskip("penstock.grain")
flags.FLAGS.mark_as_parsed()  # as absl.app.run does; Grain's processes need it

CROPS = T.Compose([T.RandomResizedCrop(32), T.ColorJitter(0.5, 0.5)])
SEED = 3


@pytest.fixture
def source(folder):
    return pg.Source(folder, transform=CROPS, seed=SEED, layout="hwc")


def copied(source):
    """As another process gets it."""
    return pickle.loads(pickle.dumps(source))  # noqa: S301 (made here)


def equal(first, second):
    assert len(first) == len(second)
    for ours, theirs in zip(first, second, strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name])


def loaded(folder, epochs, **options):
    loader = ps.Loader(
        folder, transform=CROPS, seed=SEED, layout="hwc", output="numpy", as_dict=True, **options
    )
    try:
        return [batch for _ in range(epochs) for batch in loader]
    finally:
        loader.close()


def test_batches_are_the_loaders(folder, source):
    """Epoch after epoch: the index that Grain counts on says which it is."""
    dataset = source.samples().batch(5, batch_fn=source.read).repeat(2)

    equal(list(dataset), loaded(folder, 2, batch_size=5))


def test_a_batch_may_reach_into_the_next_epoch(folder, source):
    dataset = source.samples().repeat(2).batch(23 * 2, batch_fn=source.read)
    parts = loaded(folder, 2, batch_size=23)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    equal(list(dataset), [whole])


def test_single_samples(folder, source):
    singles = list(source.samples().repeat(2).map(source.read_one))
    batches = loaded(folder, 2)

    equal(singles, [{name: value[0] for name, value in batch.items()} for batch in batches])
    assert source.classes == ("class_0", "class_1", "class_2")


def test_shuffling_moves_no_draw(source):
    """A sample is the same in an epoch, wherever Grain's order puts it."""
    plain = source.samples().repeat(2)
    shuffled = source.samples().shuffle(seed=5).repeat(2)
    places = {(s.epoch, s.index): number for number, s in enumerate(plain)}
    order = [places[sample.epoch, sample.index] for sample in shuffled]
    read = source.read(list(plain))

    assert sorted(order) == list(range(46))
    assert order != sorted(order)
    equal([source.read(list(shuffled))], [{name: column[order] for name, column in read.items()}])


def test_ranks_are_slices(source):
    dataset = source.samples().shuffle(seed=5)
    shares = [list(dataset[rank::2].batch(4, batch_fn=source.read)) for rank in (0, 1)]
    labels = [np.concatenate([batch["label"] for batch in share]) for share in shares]
    whole = source.read(list(dataset))["label"]

    np.testing.assert_array_equal(labels[0], whole[0::2])
    np.testing.assert_array_equal(labels[1], whole[1::2])


def test_a_checkpoint_goes_on_where_it_was_made(source):
    dataset = source.samples().shuffle(seed=5).repeat(2).batch(4, batch_fn=source.read)
    iterator = iter(dataset.to_iter_dataset())
    for _ in range(5):
        next(iterator)
    state = iterator.get_state()
    expected = list(iterator)
    again = iter(dataset.to_iter_dataset())
    again.set_state(state)

    assert len(expected) == 7
    equal(list(again), expected)


def data_loader(source, **options):
    sampler = grain.samplers.IndexSampler(
        len(source),
        shuffle=True,
        seed=1,
        num_epochs=2,
        shard_options=options.pop("shard_options", grain.sharding.NoSharding()),
    )
    return grain.DataLoader(
        data_source=source.samples_without_epoch(),
        sampler=sampler,
        operations=[pg.Draw(), grain.transforms.Batch(4, batch_fn=source.read)],
        **options,
    )


def test_data_loader_draws_by_grains_generator(source):
    batches, again = list(data_loader(source)), list(data_loader(source))
    images = np.concatenate([batch["image"] for batch in batches])

    equal(batches, again)
    assert len(images) == 46
    assert len(np.unique(images, axis=0)) == 46  # no two epochs show the same crop
    iterator = iter(data_loader(source))
    for _ in range(5):
        next(iterator)
    state = iterator.get_state()
    resumed = iter(data_loader(copied(source)))
    resumed.set_state(state)
    equal(list(resumed), list(iterator))


def test_data_loader_shards(source):
    """Two processes, one after the other: each sample of an epoch is in one of the shares."""
    shares = [
        data_loader(source, shard_options=grain.sharding.ShardOptions(rank, 2, drop_remainder=True))
        for rank in (0, 1)
    ]
    counts = [sum(len(batch["label"]) for batch in share) for share in shares]

    assert counts == [22, 22]


def test_other_processes_give_the_same(source):
    dataset = source.samples().shuffle(seed=5).batch(4, batch_fn=source.read)
    options = grain.MultiprocessingOptions(num_workers=1)
    iterator = iter(dataset.to_iter_dataset().mp_prefetch(options))
    read = [{name: np.array(value) for name, value in batch.items()} for batch in iterator]
    iterator.close()

    equal(read, list(dataset))


FORKED = """
import os, sys
import numpy as np
import penstock.grain as pg
from penstock import transforms as T

source = pg.Source(sys.argv[1], transform=T.RandomResizedCrop(32))
samples = list(source.samples())[:6]
before = source.read(samples)["image"]
child = os.fork()
if not child:
    assert np.array_equal(source.read(samples)["image"], before)
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(source.read(samples)["image"], before)
print("both")
"""


def test_a_forked_process_starts_its_own_threads(folder):
    assert run_python("-c", FORKED, folder).strip() == "both"


def test_a_source_without_draws_is_a_plain_one(folder):
    source = pg.Source(folder, transform=T.Resize((8, 9)), columns=["name"])
    dataset = grain.MapDataset.source(source).seed(1).shuffle().batch(4)
    batch = dataset[0]

    assert batch["image"].shape == (4, 3, 8, 9)
    assert batch["label"].dtype == np.int64
    assert batch["name"].shape == (4,)
    with pytest.raises(IndexError):
        source[23]


def test_draws_without_an_epoch_are_refused(source):
    with pytest.raises(LoaderError, match="all epochs would have the same draws"):
        grain.MapDataset.source(source)[0]
    loader = grain.DataLoader(
        data_source=source.samples_without_epoch(),
        sampler=grain.samplers.IndexSampler(len(source), num_epochs=1, seed=0),
        operations=[grain.transforms.Batch(4, batch_fn=source.read)],
    )
    with pytest.raises(LoaderError, match=r"put penstock.grain.Draw\(\) first"):
        next(iter(loader))


def test_a_schedule_needs_epochs(folder):
    transform = T.Compose([T.Resize((8, 8)), T.PopulationBasedAugment()])
    source = pg.Source(folder, transform=transform)
    with pytest.raises(LoaderError, match="follows a schedule of epochs"):
        source.read([pg.Sample(0, None, draw=1)])


def test_samples_are_not_taken_for_arrays(source):
    with pytest.raises(LoaderError, match=r"batch_fn=source.read"):
        source.samples().batch(4)[0]
    with pytest.raises(LoaderError, match="got dict"):
        source.read([{"image": 1}])
    with pytest.raises(LoaderError, match="directly after"):
        pg.Draw().random_map(3, np.random.default_rng(0))


def test_a_source_says_what_it_is(source, folder):
    assert repr(source) == repr(copied(source))
    assert "23 images in 3 classes, seed=3" in repr(source)
    with pytest.raises(ps.PenstockError, match="no such"):
        pg.Source(folder / "nowhere")
