"""A Loader with BucketBatches: pixels against Pillow, threads, ranks, resuming, and refusals."""

import io
import shutil

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from folders import make_image
from packing.samples import ListSource
from penstock import transforms as T
from penstock.errors import DecodeError, LoaderError, TransformError
from penstock.packing.items import BOX_LABELS, BOXES, PackItem

BUCKETS = [(48, 48), (32, 64), (64, 32)]
SHAPES = [(60, 60), (50, 110), (110, 50), (90, 80), (40, 40), (61, 130), (99, 33)]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """41 images of mixed sizes in two classes, some of them PNG."""
    root = tmp_path_factory.mktemp("mixed")
    rng = np.random.default_rng(4)
    for number in range(41):
        folder = root / f"class_{number % 2}"
        folder.mkdir(exist_ok=True)
        height, width = np.array(SHAPES[number % 7]) + rng.integers(0, 4, 2)
        ending = "png" if number % 9 == 0 else "jpg"
        make_image(rng, height, width).save(folder / f"{number:02}.{ending}")
    return root


@pytest.fixture(scope="module")
def packed(photos, tmp_path_factory):
    target = tmp_path_factory.mktemp("packed") / "mixed.pen"
    ps.pack(photos, target)
    return target


def load(data, crop="center", **options):
    transform = options.pop("transform", T.ResizeToBucket(BUCKETS, crop=crop))
    defaults = {"batch_size": 4, "shuffle": True, "seed": 3, "output": "numpy", "layout": "hwc"}
    sampling = options.pop("sampling", ps.BucketBatches(BUCKETS))
    return ps.Loader(data, transform=transform, sampling=sampling, **{**defaults, **options})


def epoch(loader):
    return [(images.copy(), labels.copy()) for images, labels in loader]


def assert_same(batches, expected):
    assert len(batches) == len(expected)
    for (images, labels), (other_images, other_labels) in zip(batches, expected, strict=True):
        np.testing.assert_array_equal(images, other_images)
        np.testing.assert_array_equal(labels, other_labels)


def by_pillow(image, bucket):
    """Resize to cover, crop in the middle."""
    height, width = bucket
    scale = max(height / image.height, width / image.width)
    covers = max(width, round(image.width * scale)), max(height, round(image.height * scale))
    left, top = round((covers[0] - width) / 2), round((covers[1] - height) / 2)
    resized = image.resize(covers, PIL.Image.Resampling.BILINEAR)
    return np.asarray(resized.crop((left, top, left + width, top + height)))


def nearest(image):
    ratios = np.log([width / height for height, width in BUCKETS])
    return BUCKETS[abs(np.log(image.width / image.height) - ratios).argmin()]


def test_batches_have_one_size_each_and_the_pixels_of_pillow(photos):
    source = ps.open_data(photos)
    expected = {}
    for sample in range(len(source)):
        with source.open(sample) as file, PIL.Image.open(file) as image:
            rgb = image.convert("RGB")
        expected[sample] = by_pillow(rgb, nearest(rgb))
    loader = load(photos, as_dict=True, columns=["label"])
    order = ps.BucketBatches(BUCKETS).bind(photos, batch_size=4, seed=3)
    batches = list(loader)

    assert len(batches) == len(loader) == len(order)
    assert {batch["image"].shape[1:3] for batch in batches} == set(BUCKETS)
    for batch, samples in zip(batches, order, strict=True):
        np.testing.assert_array_equal(batch["label"], source.labels[samples])
        for image, sample in zip(batch["image"], samples, strict=True):
            np.testing.assert_array_equal(image, expected[sample])


@pytest.mark.parametrize(
    "options", [{"threads": 1}, {"threads": 3, "prefetch": 0}, {"plan": False}]
)
def test_threads_and_plans_change_nothing(photos, options):
    assert_same(epoch(load(photos, "random", **options)), epoch(load(photos, "random")))


def test_packed_data_give_the_same_batches(photos, packed):
    assert_same(epoch(load(packed, "random")), epoch(load(photos, "random")))


def test_epochs_differ_and_a_replica_repeats_them(photos):
    loader = load(photos, "random")
    first, second = epoch(loader), epoch(loader)

    assert [labels.tolist() for _, labels in first] != [labels.tolist() for _, labels in second]
    assert_same(epoch(loader.replica()), first)
    assert sum(len(images) for images, _ in epoch(loader.replica(batch_size=2))) == 41


def test_a_loader_goes_on_from_any_batch(photos):
    whole = epoch(load(photos, "random"))
    loader = load(photos, "random")
    states = [loader.state_dict()]
    states += [loader.state_dict() for _ in loader]

    for done, state in enumerate(states):
        other = load(photos, "random")
        other.load_state_dict(state)
        if done < len(whole):
            assert_same(epoch(other), whole[done:])
        assert other.state_dict()["epoch"] == 1
    assert all(type(value) is int for value in states[2].values())


def test_a_state_can_be_saved_again_before_it_is_used(photos):
    loader = load(photos)
    walk = iter(loader)
    next(walk)
    next(walk)
    state = loader.state_dict()
    other = load(photos)
    other.load_state_dict(state)

    assert state["batches"] == 2
    assert other.state_dict()["batches"] == 2
    assert other.state_dict()["batch_shape"] == state["batch_shape"]


@pytest.mark.parametrize("world_size", [2, 3])
def test_ranks_have_one_bucket_at_each_step_and_everything_together(photos, world_size):
    ranks = [epoch(load(photos, rank=rank, world_size=world_size)) for rank in range(world_size)]

    assert len({len(rank) for rank in ranks}) == 1
    for step in zip(*ranks, strict=True):
        assert len({images.shape for images, _ in step}) == 1
    single = {image.tobytes() for images, _ in epoch(load(photos)) for image in images}
    assert {image.tobytes() for rank in ranks for images, _ in rank for image in images} == single


def test_another_number_of_ranks_goes_on_or_is_refused(photos):
    before = load(photos, batch_size=4)
    walk = iter(before)
    next(walk)
    next(walk)
    state = before.state_dict()
    halves = [load(photos, batch_size=2, rank=rank, world_size=2) for rank in (0, 1)]
    for half in halves:
        half.load_state_dict(state)
    resumed = [epoch(half) for half in halves]
    for (images, _), *parts in zip([next(walk) for _ in resumed[0]], *resumed, strict=True):
        together = {image.tobytes() for part, _ in parts for image in part}
        expected = {image.tobytes() for image in images}
        # The last step of a bucket may need one more to divide by two.
        assert together == expected if len(images) % 2 == 0 else together > expected

    other = load(photos, batch_size=4, rank=0, world_size=2)
    other.load_state_dict(state)
    with pytest.raises(LoaderError, match="Keep batch_size times world_size"):
        next(iter(other))


def test_ranks_that_are_found_late_count(photos, monkeypatch):
    """A script may make its loader before it sets up torch.distributed."""
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    loader = load(photos)
    alone = len(loader)
    before = load(photos, rank=0, world_size=2)
    walk = iter(before)
    next(walk)
    loader.load_state_dict(before.state_dict())
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")

    assert len(loader) == len(before) < alone
    assert_same(epoch(loader), [(images.copy(), labels.copy()) for images, labels in walk])


def test_a_budget_with_ranks_that_are_found_late(photos, monkeypatch):
    """With more ranks no bucket may fill a whole batch."""
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    options = {"batch_size": 1, "sampling": ps.BucketBatches(BUCKETS, pixels=48 * 48 * 12)}
    loader = load(photos, **options)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    expected = epoch(load(photos, rank=1, world_size=4, **options))

    assert len(loader) == len(expected)
    assert_same(epoch(loader), expected)
    assert_same(epoch(loader.replica()), expected)
    assert loader.batch_size == 13, "of the bucket with the fewest pixels"


def test_the_order_of_a_list_does_not_matter(photos):
    sampling = ps.BucketBatches(BUCKETS[::-1])
    assert_same(epoch(load(photos, sampling=sampling)), epoch(load(photos)))


def test_a_budget_decides_the_size_of_batches(photos):
    sampling = ps.BucketBatches(BUCKETS, pixels=48 * 48 * 5)
    loader = load(photos, batch_size=1, sampling=sampling)
    sizes = {images.shape[1:3]: 0 for images, _ in loader}
    for images, _ in loader.replica():
        sizes[images.shape[1:3]] = max(sizes[images.shape[1:3]], len(images))

    assert sizes == {(48, 48): 5, (32, 64): 5, (64, 32): 5}
    assert loader.batch_size == 5
    assert {len(images) for images, _ in loader.replica(batch_size=3, threads=1)} <= {1, 2, 3}


def test_what_does_not_divide_is_said(photos):
    loader = load(photos, rank=0, world_size=2, drop_last=True)

    assert "41 samples in 3 buckets" in repr(loader)
    assert "left over in each epoch" in repr(loader)
    lines = loader.describe_sampling().splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("32x64: ")
    assert "batches of 4" in lines[1]
    assert ps.Loader(photos).describe_sampling() == "all 41 samples"


def test_another_list_is_refused(photos):
    with pytest.raises(
        LoaderError, match=r"it has 3 buckets \(64x32, .*\), and ResizeToBucket \(step 1\) has 2"
    ):
        load(photos, transform=T.ResizeToBucket(BUCKETS[:2]))
    with pytest.raises(LoaderError, match="up to 9 tokens of 16x16 pixels"):
        load(photos, transform=T.ResizeToTokens(16, 9))


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (T.RandomCrop(40), "RandomCrop \\(step 1\\)"),
        (T.RandomResizedCrop(40), "RandomResizedCrop"),
        (T.Pad(3), "Pad"),
        (lambda pixels: pixels, "step 1"),
    ],
)
def test_what_may_change_sizes_before_is_refused(photos, first, name):
    with pytest.raises(LoaderError, match=f"{name}.* may change them before"):
        load(photos, transform=T.Compose([first, T.ResizeToBucket(BUCKETS)]))


def test_what_keeps_sizes_may_come_before(photos):
    @ps.keeps_size
    def same(pixels):
        return pixels

    steps = [T.RandomHorizontalFlip(1.0), T.ColorJitter(0.2), same, T.ResizeToBucket(BUCKETS)]
    loader = load(photos, transform=T.Compose(steps))

    assert {images.shape[1:3] for images, _ in loader} == set(BUCKETS)


def test_a_view_for_each(photos):
    view = T.ResizeToBucket(BUCKETS)
    batches = list(load(photos, transform=T.MultiView([view, T.Compose([view])])))

    assert all(one.shape == other.shape for (one, other), _ in batches)
    with pytest.raises(LoaderError, match="has 2 buckets"):
        load(photos, transform=T.MultiView([view, T.ResizeToBucket(BUCKETS[1:])]))


def test_tokens(photos):
    loader = load(
        photos, transform=T.ResizeToTokens(16, 12), sampling=ps.BucketBatches.by_tokens(16, 12)
    )
    shapes = [images.shape for images, _ in loader]

    assert sum(shape[0] for shape in shapes) == 41
    assert all(height * width <= 12 * 256 for _, height, width, _ in shapes)
    assert all(height % 16 == width % 16 == 0 for _, height, width, _ in shapes)


def boxes_items():
    """An image with a bright square and its box for each of the shapes."""
    rng = np.random.default_rng(0)
    items = []
    for number, (height, width) in enumerate(SHAPES):
        pixels = rng.integers(0, 40, (height, width, 3), np.uint8)
        pixels[height // 2 : height // 2 + 9, width // 2 : width // 2 + 9] = 220
        file = io.BytesIO()
        PIL.Image.fromarray(pixels).save(file, "PNG")
        left, top = width // 2, height // 2
        box = np.array([[left, top, left + 9, top + 9]], np.float32)
        columns = {"boxes": box, "box_labels": np.array([1])}
        items.append(PackItem(f"{number}.png", file.getvalue(), columns))
    return items


def test_boxes_follow_into_their_buckets(tmp_path):
    target = tmp_path / "boxes.pen"
    ps.pack(ListSource(boxes_items(), (BOXES, BOX_LABELS)), target)
    loader = load(target, "center", batch_size=2)
    seen = 0
    for images, targets in loader:
        for image, one in zip(images, targets, strict=True):
            left, top, right, bottom = one["boxes"][0]
            bright = np.argwhere(np.asarray(image)[..., 0] > 130)
            centre = bright.mean(axis=0) + 0.5
            assert abs(centre - [(top + bottom) / 2, (left + right) / 2]).max() < 1
            seen += 1
    assert seen == len(SHAPES)


def test_files_whose_size_cannot_be_read(photos, tmp_path):
    root = tmp_path / "some"
    shutil.copytree(photos, root)
    (root / "class_0" / "bad.jpg").write_bytes(b"no image")
    (root / "class_0" / "cut.jpg").write_bytes((root / "class_0" / "02.jpg").read_bytes()[:700])

    with pytest.raises(DecodeError, match=r"bad\.jpg.*its size cannot be read.*on_error='skip'"):
        load(root)
    loader = load(root, on_error="skip")
    assert "1 left out as unreadable" in repr(loader)
    assert sum(len(images) for images, _ in loader) == 41
    skipped = {entry.file for entry in loader.ledger if entry.event == "skipped"}
    assert skipped == {"class_0/bad.jpg", "class_0/cut.jpg"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"on_error": "substitute"}, LoaderError, "may have another size"),
        ({"weights": np.ones(41)}, LoaderError, "sampling=BucketBatches.* and weights= both say"),
        ({"replacement": False}, LoaderError, "replacement=False both say"),
        ({"samples_per_epoch": 9}, LoaderError, "samples_per_epoch=9 does not go with Bucket"),
        ({"sampling": "buckets"}, LoaderError, "sampling must be one of"),
        ({"sampling": ps.BucketBatches}, LoaderError, "sampling must be one of"),
        (
            {"sampling": ps.BucketBatches(BUCKETS, pixels=10**6), "batch_size": 8},
            LoaderError,
            "batch_size=8 and pixels=1000000 both say",
        ),
        ({"reuse": ps.Echo(2)}, LoaderError, "does not go with sampling=BucketBatches"),
        (
            {
                "batch_transform": T.MixUp(alpha=0.4, num_classes=2),
                "transform": T.Compose([T.ResizeToBucket(BUCKETS), T.ToDtype("uint8")]),
            },
            TransformError,
            "uint8",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(photos, options, error, message):
    with pytest.raises(error, match=message):
        load(photos, **options)


def test_mixing_works_within_buckets(photos):
    steps = [T.ResizeToBucket(BUCKETS), T.ToDtype("float32", scale=True)]
    mixed = list(
        load(
            photos,
            transform=T.Compose(steps),
            batch_transform=T.MixUp(alpha=0.4, num_classes=2),
        )
    )

    assert {images.shape[1:3] for images, _ in mixed} == set(BUCKETS)
    assert all(labels.shape == (len(images), 2) for images, labels in mixed)


def test_without_buckets_the_error_points_to_them(photos):
    loader = ps.Loader(photos, transform=T.ResizeToBucket(BUCKETS), batch_size=8, output="numpy")
    with pytest.raises(LoaderError, match=r"sampling=BucketBatches\(\.\.\.\)"):
        list(loader)


def test_indices_restrict_the_buckets(photos):
    loader = load(photos, indices=range(0, 41, 2))
    assert sum(len(images) for images, _ in loader) == 21
