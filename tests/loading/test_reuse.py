"""Reuse: what is kept in memory changes no byte; keys decide what is drawn anew."""

import gc
import os
import warnings
import weakref

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock as ps
from mask_samples import write_pairs
from penstock import transforms as T
from penstock.costs.plan_costs import explain_measured
from penstock.costs.plan_variants import keep_only
from penstock.errors import DecodeError, LoaderError
from penstock.geometry import Sizes
from penstock.loading.options import BatchOptions
from penstock.loading.reuse import open_reuse
from penstock.loading.sampling.facts import facts_of
from penstock.loading.sampling.select import select
from penstock.planner.plan import as_written
from penstock.reference.pipeline import finish, run_moves
from target_samples import make_targets, sizes_of

SEED = 3
FIRST = T.RandomResizedCrop(24)
LAST = T.Compose([T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4)])
WAYS = {"reuse": ps.Reuse(3), "echo": ps.Echo(3, window=8)}
NO_ROOM = 24 * 24 * 3 * 5  # less than five images take with what is noted beside them


def make_loader(data, reuse, transform=None, **options):
    common = {"batch_size": 5, "shuffle": True, "seed": SEED, "output": "numpy", "threads": 2}
    transform = transform or T.Compose([FIRST, LAST])
    return ps.Loader(data, transform=transform, reuse=reuse, **{**common, **options})


def run(loader, epochs=5):
    """All batches of some epochs."""
    return [[as_arrays(batch) for batch in loader] for _ in range(epochs)]


def as_arrays(batch):
    return tuple(np.array(part) for part in batch)


def assert_same(found, expected):
    assert len(found) == len(expected)
    for epoch, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert len(ours) == len(theirs), epoch
        for one, other in zip(ours, theirs, strict=True):
            for part, wanted in zip(one, other, strict=True):
                np.testing.assert_array_equal(part, wanted)


def with_memory(reuse, memory):
    values = {"times": reuse.times, "memory": memory, "after": reuse.after}
    if isinstance(reuse, ps.Echo):
        return ps.Echo(window=reuse.window, **values)
    return ps.Reuse(**values)


@pytest.fixture(params=list(WAYS))
def way(request):
    return WAYS[request.param]


@pytest.fixture(scope="module")
def expected(folder):
    """What Pillow computes without keeping anything."""
    return {name: run(make_loader(folder, way, backend="pillow")) for name, way in WAYS.items()}


@pytest.fixture
def wanted(request, expected, way):
    return expected["echo" if isinstance(way, ps.Echo) else "reuse"]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_batches_are_those_of_a_backend_that_keeps_nothing(folder, way, wanted, threads):
    loader = make_loader(folder, way, threads=threads)

    assert_same(run(loader), wanted)
    assert loader.reuse_counts.found > 0


@pytest.mark.parametrize("memory", [1, NO_ROOM])
def test_too_little_memory_changes_no_byte(folder, way, wanted, memory):
    loader = make_loader(folder, with_memory(way, memory))

    assert_same(run(loader), wanted)
    counts = loader.reuse_counts
    assert counts.no_room > 0
    assert counts.most_bytes <= memory
    if isinstance(way, ps.Reuse):  # echoes may be handed on while they are computed
        assert (counts.found > 0) == (memory > 1)


def test_packed_files_give_the_same(folder, tmp_path, way):
    ps.pack(folder, tmp_path / "a.pen")
    loader = make_loader(tmp_path / "a.pen", way)

    assert_same(run(loader), run(make_loader(folder, way)))


def test_an_epoch_in_which_all_are_drawn_anew_is_a_plain_one(folder, way):
    plain = make_loader(folder, None)
    images, labels = next(iter(make_loader(folder, way)))

    expected_images, expected_labels = next(iter(plain))
    np.testing.assert_array_equal(images, expected_images)
    np.testing.assert_array_equal(labels, expected_labels)


def by_hand(folder, sample, born, epoch, key=None):
    """One image: the first part drawn for the epoch `born`, the last part for `epoch`."""
    source = ps.open_image_folder(folder)
    with source.open(sample) as file:
        image = PIL.Image.open(file).convert("RGB")
    plan = as_written(T.Compose([FIRST, LAST]))
    (whole,) = plan.segments
    first_key, last_key = np.array([sample]), np.array([sample if key is None else key])
    for node in whole.ops:
        is_first = node.op is FIRST
        draws_for = (born, first_key) if is_first else (epoch, last_key)
        part = type(whole)((node,))
        sizes = Sizes(np.array([image.height]), np.array([image.width]))
        image = run_moves(image, part.sample(SEED, *draws_for, sizes), row=0)
    return finish(image, plan.final, "chw")


def test_reuse_is_what_the_page_says(folder):
    """A sample is drawn for the first epoch of its turn; turns are `times` epochs long."""
    epochs, times = 8, 3
    found = run(make_loader(folder, ps.Reuse(times), shuffle=False, batch_size=23), epochs)
    phases = []
    for sample in range(23):
        images = [found[epoch][0][0][sample] for epoch in range(epochs)]
        for phase in range(times):
            borns = [max(0, epoch - (epoch + phase) % times) for epoch in range(epochs)]
            theirs = [by_hand(folder, sample, born, epoch) for epoch, born in enumerate(borns)]
            if all(map(np.array_equal, images, theirs)):
                phases.append(phase)
                break

    assert len(phases) == 23
    assert set(phases) == {0, 1, 2}


def test_echo_is_what_the_page_says(folder):
    """Every window comes `times` times; only the key's count of repeats tells echoes apart."""
    loader = make_loader(folder, ps.Echo(2, window=8), shuffle=False, batch_size=46)
    loader.set_epoch(4)
    images, labels = next(iter(loader))
    windows = [range(8), range(8, 16), range(16, 23)]
    order = [(sample, echo) for window in windows for echo in (0, 1) for sample in window]

    assert labels.tolist() == [ps.open_image_folder(folder).labels[sample] for sample, _ in order]
    for image, (sample, echo) in zip(images, order, strict=True):
        one = by_hand(folder, sample, 4, 4, key=sample | echo << 32)
        np.testing.assert_array_equal(image, one)


def order_of(folder, **options):
    """The samples of one epoch, by the only column that names them."""
    files = sorted(p.as_posix() for p in folder.rglob("*.jpg"))
    loader = ps.Loader(
        files,
        labels=list(range(len(files))),
        transform=T.Compose([T.Resize((8, 8)), T.RandomHorizontalFlip()]),
        output="numpy",
        **{"shuffle": True, "batch_size": 4, **options},
    )
    return loader, [batch[1].tolist() for batch in loader]


def test_an_echoed_epoch_has_every_sample_so_often_and_is_shuffled_anew(folder):
    loader, batches = order_of(folder, reuse=ps.Echo(3, window=8))
    samples = [sample for batch in batches for sample in batch]

    assert len(loader) == len(batches) == -(-23 * 3 // 4)
    assert sorted(samples) == sorted(3 * list(range(23)))
    first, second, third = samples[:8], samples[8:16], samples[16:24]
    assert sorted(first) == sorted(second) == sorted(third)
    assert len({tuple(first), tuple(second), tuple(third)}) == 3
    _, plain = order_of(folder)
    assert first == [sample for batch in plain for sample in batch][:8]


def test_drop_last_and_ranks_count_echoes(folder):
    whole = ps.Echo(3, window=8)
    for world_size in (1, 2, 3):
        for drop_last in (False, True):
            seen = []
            for rank in range(world_size):
                options = {"rank": rank, "world_size": world_size, "drop_last": drop_last}
                loader, batches = order_of(folder, reuse=whole, **options)
                assert len(loader) == len(batches)
                assert all(len(batch) == 4 for batch in (batches if drop_last else batches[:-1]))
                seen += [sample for batch in batches for sample in batch]
            assert set(seen) == set(range(23)) or drop_last
            share = 69 // world_size if drop_last else -(-69 // world_size)
            assert len(seen) == world_size * (share // 4 * 4 if drop_last else share)


def whole_order(asked, samples, world_size, epoch, shuffle=True):
    """Samples and keys of an epoch, by position."""
    batching = BatchOptions(1, shuffle, SEED, False, 0, world_size)
    selection, _ = select(facts_of(samples, "test"), batching)
    plan = as_written(T.Compose([FIRST, LAST]))
    reusing = open_reuse(asked, plan, selection, SEED, mixes=False)
    order = reusing.order(selection, selection.epoch(epoch), epoch, batching)
    assert len(order) == reusing.length(samples)
    return order.at(np.arange(len(order)))


@given(
    samples=st.integers(1, 70),
    world_size=st.integers(1, 5),
    times=st.integers(2, 4),
    window=st.integers(1, 80),
    shuffle=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_echo_comes_once_and_on_the_same_rank(samples, world_size, times, window, shuffle):
    picked = whole_order(ps.Echo(times, window=window), samples, world_size, 2, shuffle)
    keys = picked.keys.tolist()
    assert sorted(keys) == sorted(s | t << 32 for s in range(samples) for t in range(times))
    assert (picked.samples == picked.keys & 0xFFFFFFFF).all()
    whole = -(-window // world_size) * world_size  # as a window is rounded up
    ranks = {}
    for position in range(samples // whole * whole * times):  # the last window may be shorter
        ranks.setdefault(keys[position] & 0xFFFFFFFF, set()).add(position % world_size)
    assert all(len(seen) == 1 for seen in ranks.values())


@given(samples=st.integers(1, 70), world_size=st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_every_sample_stays_on_its_rank(samples, world_size):
    for epoch in range(3):
        picked = whole_order(ps.Reuse(2), samples, world_size, epoch)
        assert sorted(picked.samples.tolist()) == list(range(samples))
        assert (picked.keys == picked.samples).all()
        if world_size > 1:
            assert (picked.samples % world_size == np.arange(samples) % world_size).all()


@pytest.mark.parametrize("stop", [(0, 3), (2, 1), (3, 4)])
def test_a_resumed_loader_goes_on_with_the_same_bytes(folder, way, wanted, stop):
    epoch, batches = stop
    loader = make_loader(folder, way)
    loader.set_epoch(epoch)
    iterator = iter(loader)
    for _ in range(batches):
        next(iterator)
    state = loader.state_dict()

    resumed = make_loader(folder, way, threads=3)
    resumed.load_state_dict(state)

    assert_same(run(resumed, 5 - epoch), [wanted[epoch][batches:], *wanted[epoch + 1 :]])


def images_by_key(loaders, epochs):
    """Each epoch's images of all ranks together, in an order that does not depend on ranks."""
    seen = [[] for _ in range(epochs)]
    for loader in loaders:
        for epoch in range(epochs):
            seen[epoch] += [image.tobytes() for batch in loader for image in batch[0]]
    return [sorted(images) for images in seen]


@pytest.mark.parametrize("world_size", [1, 2])
def test_ranks_share_the_same_images(make_folder, way, world_size):
    data = make_folder(images=16)  # a multiple, so that no rank wraps round to the start
    ranks = [make_loader(data, way, rank=rank, world_size=world_size) for rank in range(world_size)]

    assert images_by_key(ranks, 4) == images_by_key([make_loader(data, way)], 4)
    for loader in ranks:
        counts = loader.reuse_counts
        fresh = 16 // world_size * (4 if isinstance(way, ps.Echo) else 1)
        assert counts.found > 0
        assert counts.no_room == 0
        assert counts.computed >= fresh


def test_samples_stay_with_the_rank_that_keeps_them(folder):
    seen = []
    for rank in (0, 1):
        loader, first = order_of(folder, reuse=ps.Reuse(2), rank=rank, world_size=2)
        epochs = [first, *([batch[1].tolist() for batch in loader] for _ in range(3))]
        own = [[sample for batch in epoch for sample in batch] for epoch in epochs]
        count = (23 - rank + 1) // 2  # without the sample that rank 1 wraps round to
        assert all(set(epoch[:count]) == set(own[0][:count]) for epoch in own[1:])
        assert own[0] != own[1] != own[2]
        seen.append(set(own[0]))
    assert seen[0] | seen[1] == set(range(23))
    assert len(seen[0] & seen[1]) <= 1  # the sample that rank 1 wraps round to


def test_another_number_of_ranks_goes_on_from_the_start_of_an_epoch_only(folder, way):
    loader = make_loader(folder, way, rank=0, world_size=2)
    next(iter(loader))
    state = loader.state_dict()
    other = make_loader(folder, way)
    other.load_state_dict(state)

    with pytest.raises(LoaderError, match="world_size=2, and there are 1 now"):
        next(iter(other))

    other.load_state_dict({**state, "consumed": 0})
    next(iter(other))


def test_a_state_of_another_reuse_is_refused(folder):
    state = make_loader(folder, ps.Reuse(2)).state_dict()
    for other in (ps.Reuse(3), ps.Echo(2), None):
        with pytest.raises(LoaderError, match="reuse="):
            make_loader(folder, other).load_state_dict(state)
    with pytest.raises(LoaderError, match="reuse="):
        make_loader(folder, ps.Reuse(2)).load_state_dict(make_loader(folder, None).state_dict())
    make_loader(folder, ps.Reuse(2, memory="1 MB")).load_state_dict(state)


def test_without_reuse_states_are_as_they_were(folder):
    assert not {"reuse", "world_size"} & set(make_loader(folder, None).state_dict())
    assert make_loader(folder, None).reuse_counts is None


def test_each_epoch_draws_its_share_anew(make_folder):
    times, images, epochs = 4, 60, 9
    loader = make_loader(make_folder(images=images), ps.Reuse(times), batch_size=20)
    computed = []
    for _ in range(epochs):
        before = loader.reuse_counts.computed
        for _ in loader:
            pass
        computed.append(loader.reuse_counts.computed - before)

    assert computed[0] == images  # nothing is kept yet
    assert sum(computed[1 : 1 + times]) == images  # each sample once in a turn
    assert computed[1 : 1 + times] == computed[1 + times :]
    assert max(computed[1:]) < images / 2
    counts = loader.reuse_counts
    assert counts.found == images * epochs - sum(computed)
    assert counts.images <= images


@pytest.mark.parametrize("window", [1, 5, 8, 100])
def test_each_echo_but_the_first_finds_its_image(folder, window):
    loader = make_loader(folder, ps.Echo(3, window=window), prefetch=0)  # one part at a time
    run(loader, 2)

    assert loader.reuse_counts.computed == 2 * 23
    assert loader.reuse_counts.found == 2 * 2 * 23
    assert loader.reuse_counts.images == 0


def test_a_first_part_without_draws_is_computed_once(folder):
    transform = T.Compose([T.Resize((24, 24)), LAST])
    loader = make_loader(folder, ps.Reuse(2), transform)

    assert_same(run(loader), run(make_loader(folder, None, transform)))
    assert loader.reuse_counts.computed == 23
    assert loader.reuse_counts.images == 23


def test_epochs_that_are_left_out_leave_nothing_wrong_behind(folder, way, wanted):
    loader = make_loader(folder, way)
    for epoch in (0, 4, 1, 2, 0, 3):
        loader.set_epoch(epoch)
        assert_same(run(loader, 1), wanted[epoch : epoch + 1])


def test_two_iterations_at_once_do_not_disturb_each_other(folder, way, wanted):
    loader = make_loader(folder, way)
    first, second = iter(loader), iter(loader)
    pairs = [(as_arrays(one), as_arrays(other)) for one, other in zip(first, second, strict=True)]

    assert_same([[one for one, _ in pairs], [other for _, other in pairs]], wanted[:2])


def test_closing_lets_go_of_all_images(folder, way):
    loader = make_loader(folder, way)
    batches = iter(loader)
    next(batches)
    assert loader.reuse_counts.bytes > 0
    loader.close()

    assert loader.reuse_counts.bytes == loader.reuse_counts.images == 0


def test_a_loader_that_nobody_holds_frees_its_images(folder):
    loader = make_loader(folder, ps.Reuse(3))
    run(loader, 1)
    kept = [
        weakref.ref(entry.kept.pixels)
        for entry in loader._course.pipeline.reusing.store._entries.values()
    ]
    assert kept
    del loader
    gc.collect()

    assert [image() for image in kept if image() is not None] == []


def test_a_replica_keeps_images_of_its_own(folder, way, wanted):
    loader = make_loader(folder, way)
    run(loader, 1)
    before = loader.reuse_counts

    assert_same(run(loader.replica(threads=1)), wanted)
    assert loader.reuse_counts == before


def test_a_replica_with_another_plan_may_have_nothing_to_keep(folder, way):
    loader = make_loader(folder, way)
    replica = loader.replica(plan=keep_only(loader.plan, [0]))
    images = np.concatenate([batch[0] for batch in replica])

    assert len(images) == 23 * (way.times if isinstance(way, ps.Echo) else 1)
    assert replica.reuse_counts.found == replica.reuse_counts.computed == 0


def test_python_steps_draw_by_the_part_that_they_are_in(folder, way):
    def shift(image, rng):
        return np.roll(np.asarray(image), int(rng.integers(8)), axis=1)

    def darken(pixels, rng):
        return pixels // rng.integers(1, 4, dtype=np.uint8)

    steps = [FIRST, shift, T.RandomVerticalFlip(), T.PythonStep(darken, as_array=True), LAST]
    name = shift.__qualname__
    asked = type(way)(times=3, after=name)
    loader = make_loader(folder, asked, T.Compose(steps))

    assert_same(
        run(loader, 4), run(make_loader(folder, asked, T.Compose(steps), backend="pillow"), 4)
    )
    assert loader.reuse_counts.found > 0


@pytest.mark.parametrize("after", ["RandomResizedCrop", "invert"])
def test_crops_that_pass_functions_stay_in_their_part(folder, way, after):
    @ps.per_pixel
    def invert(pixels):
        return 255 - pixels

    invert.__qualname__ = "invert"
    steps = [FIRST, T.PythonStep(invert, as_array=True), T.RandomCrop(16), LAST]
    asked = type(way)(times=3, after=after)
    loader = make_loader(folder, asked, T.Compose(steps))

    assert_same(
        run(loader, 4), run(make_loader(folder, asked, T.Compose(steps), backend="pillow"), 4)
    )
    assert loader.reuse_counts.found > 0


@pytest.mark.parametrize("fidelity", ["exact", "fast"])
def test_planned_parts_are_the_same_whether_kept_or_not(make_photos, way, fidelity):
    """Large photos, for which fast plans differ from what is written."""
    transform = T.Compose(
        [T.RandomRotation(20), T.RandomResizedCrop(32), T.RandomCrop(24), T.RandAugment()]
    )
    options = {"fidelity": fidelity, "batch_size": 4}
    photos = make_photos(9)
    loader = make_loader(photos, way, transform, **options)
    other = make_loader(photos, with_memory(way, 1), transform, threads=1, prefetch=0, **options)

    assert_same(run(loader, 4), run(other, 4))
    assert loader.reuse_counts.found > 0


def test_views_are_refused(folder, way):
    views = T.MultiView([T.Compose([FIRST, LAST]), FIRST])
    with pytest.raises(LoaderError, match="does not work with MultiView"):
        make_loader(folder, way, views)


def test_masks_follow_kept_images(tmp_path, way):
    write_pairs(tmp_path, [(24, 32), (31, 17), (30, 30), (40, 40), (9, 50), (33, 20)])
    transform = T.Compose(
        [T.RandomRotation(30), T.RandomResizedCrop((16, 16)), T.RandomHorizontalFlip()]
    )

    def loader(**options):
        return make_loader(
            tmp_path / "images", way, transform, masks=tmp_path / "masks", batch_size=4, **options
        )

    native = loader()
    assert_same(run(native), run(loader(backend="pillow")))
    assert native.reuse_counts.found > 0


def test_boxes_follow_kept_images(folder, way):
    source = ps.open_image_folder(folder)
    shapes = []
    for sample in range(len(source)):
        with source.open(sample) as file, PIL.Image.open(file) as image:
            shapes.append((image.height, image.width))
    targets = make_targets(sizes_of(*shapes), outside=False)
    transform = T.Compose(
        [
            T.RandomIoUCrop(),
            T.SanitizeBoundingBoxes(),
            T.Resize((32, 32)),
            T.RandomHorizontalFlip(),
            T.RandomCrop(24),
            T.SanitizeBoundingBoxes(),
        ]
    )

    def delivered(**options):
        loader = make_loader(folder, way, transform, targets=targets, **options)
        return loader, [(np.stack(images), found) for _ in range(4) for images, found in loader]

    native, ours = delivered()
    _, theirs = delivered(backend="pillow")
    assert len(ours) == len(theirs)
    for (images, found), (wanted_images, wanted) in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(images, wanted_images)
        for one, other in zip(found, wanted, strict=True):
            assert one.keys() == other.keys()
            for name, values in one.items():
                np.testing.assert_array_equal(values, other[name])
    assert native.reuse_counts.found > 0


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_bad_files_are_dealt_with_in_every_epoch(broken_folder, way, on_error):
    options = {"on_error": on_error}
    loader = make_loader(broken_folder, way, **options)
    small = make_loader(broken_folder, with_memory(way, 1), **options)

    assert_same(run(loader), run(small))
    assert str(loader.ledger) == str(small.ledger)
    assert loader.reuse_counts.found > 0
    with pytest.raises(DecodeError):
        run(make_loader(broken_folder, way))


def test_mixing_goes_on_top(folder, way):
    mixing = T.MixUp(num_classes=3)
    transform = T.Compose([FIRST, T.Normalize((0.5,) * 3, (0.5,) * 3)])  # mixing is random enough
    loader = make_loader(folder, way, transform, batch_transform=mixing)
    other = make_loader(folder, with_memory(way, 1), transform, batch_transform=mixing)

    assert_same(run(loader, 3), run(other, 3))
    assert loader.reuse_counts.found > 0


def test_repeated_indices_are_samples_of_their_own(folder):
    indices = [0, 5, 5, 5, 9, 0, 2, 7]
    loader = make_loader(folder, ps.Reuse(2), indices=indices, batch_size=8)
    other = make_loader(folder, ps.Reuse(2, memory=1), indices=indices, batch_size=8)
    found = run(loader, 4)

    assert_same(found, run(other, 4))
    assert loader.reuse_counts.found > 0
    assert len({image.tobytes() for image in found[0][0][0]}) == len(indices)


def test_echo_goes_with_weights(folder):
    options = {"weights": np.arange(23), "samples_per_epoch": 30, "shuffle": False}
    loader = make_loader(folder, ps.Echo(2, window=10), **options)
    found = run(loader, 2)

    assert len(loader) == len(found[0]) == 12
    assert_same(found, run(make_loader(folder, ps.Echo(2, window=10, memory=1), **options), 2))
    assert loader.reuse_counts.found >= 30


def test_a_forked_child_is_told_so(folder, way):
    loader = make_loader(folder, way)
    next(iter(loader))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        try:
            next(iter(loader))
        except LoaderError as error:
            os._exit(0 if "fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"reuse": 3}, "reuse must be"),
        ({"reuse": ps.Reuse(2), "weights": np.ones(23)}, "does not go with weights="),
        ({"reuse": ps.Reuse(2), "samples_per_epoch": 9}, "does not go with samples_per_epoch=9"),
    ],
)
def test_what_does_not_go_together_is_refused(folder, options, says):
    with pytest.raises(LoaderError, match=says):
        make_loader(folder, **{"shuffle": False, **options})


def test_repr_tells(folder):
    assert "reuse=Reuse(times=2, memory='4 GB', after=None), " in repr(
        make_loader(folder, ps.Reuse(2))
    )


def test_explain_shows_what_reuse_brings(folder, way):
    explained = make_loader(folder, way).explain()

    assert explained.reuse[0].startswith(f"reuse: {way!r} keeps images after RandomResizedCrop")
    assert [line.split(":")[0] for line in explained.reuse[1:4]] == [
        "  speed",
        "  memory",
        "  diversity",
    ]
    assert str(explained).endswith("\n".join(explained.reuse))
    assert make_loader(folder, None).explain().reuse == ()


def test_explain_names_a_pipeline_that_cannot_gain(folder):
    """Packed or not: of images as small as these, decoding is no work worth saving."""
    slow_end = T.Compose([FIRST, T.Resize((400, 400)), T.RandAugment(num_ops=4)])
    asked = ps.Reuse(2, after="RandomResizedCrop")

    assert "does not pay" in make_loader(folder, asked, slow_end).explain().reuse[-1]


def test_measuring_a_plan_needs_a_loader_without_reuse(folder, way):
    with pytest.raises(LoaderError, match="depends on what is in memory"):
        explain_measured(make_loader(folder, way))
