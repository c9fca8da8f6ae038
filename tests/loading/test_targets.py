"""Boxes, keypoints and masks come out of the loader where their image's pixels are."""

import io

import numpy as np
import PIL.Image
import pytest

from packing.samples import ListSource
from penstock import Loader, pack, verify
from penstock import transforms as T
from penstock.errors import DecodeError, LoaderError
from penstock.geometry import Size
from penstock.packing.items import BOX_LABELS, BOXES, MASKS, Column, PackItem, keypoints_column
from penstock.packing.mask_runs import encode_runs
from penstock.transforms.targets import read_targets

COLUMNS = (BOXES, BOX_LABELS, MASKS, keypoints_column(2), Column("image_id", "fixed", "int64"))
AREA = Column("area", "ragged", "float64")
PIPELINES = {
    "ssd": T.ssd(),
    "one size": T.ssd(size=(60, 50)),
    "warps": T.Compose(
        [T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10), T.RandomPerspective(0.3, p=1.0)]
    ),
    "policies": T.Compose([T.RandomShortestSize((40, 50, 60)), T.RandAugment(), T.AugMix()]),
    "bent": T.ElasticTransform(20.0, 3.0),
}


def png_of(pixels):
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def make_sample(number, *, as_runs=True):
    """A dark image with bright rectangles, and everything known about them."""
    rng = np.random.default_rng(number)
    height, width = rng.integers(40, 90, 2).tolist()
    pixels = rng.integers(0, 40, (height, width, 3), np.uint8)
    objects = number % 4
    near = rng.integers(0, 20, (objects, 2))
    far = near + rng.integers(8, 20, (objects, 2))
    masks = np.zeros((objects, height, width), dtype=np.bool_)
    for mask, (left, top), (right, bottom) in zip(masks, near, far, strict=True):
        pixels[top:bottom, left:right] = 200
        mask[top:bottom, left:right] = True
    png = png_of(masks.reshape(-1, width)) if objects else b""
    values = {
        "boxes": np.concatenate([near, far], axis=1).astype(np.float32),
        "box_labels": np.arange(objects) + 1,
        "masks": encode_runs(masks, objects, Size(height, width)) if as_runs else png,
        "keypoints": np.stack(
            [np.concatenate([near, np.ones((objects, 1))], axis=1)] * 2, axis=1
        ).astype(np.float32),
        "image_id": 1000 + number,
        "area": np.prod(far - near, axis=1).astype(np.float64),
    }
    return PackItem(f"{number}.png", png_of(pixels), values)


@pytest.fixture(scope="module", params=["runs", "png"])
def packed(tmp_path_factory, request):
    """Masks as run lengths, and as the PNGs of earlier files."""
    target = tmp_path_factory.mktemp("targets") / "objects.pen"
    items = [make_sample(n, as_runs=request.param == "runs") for n in range(24)]
    pack(ListSource(items, (*COLUMNS, AREA)), target, progress=False)
    return target


def loaded(packed, transform, **options):
    common = {
        "batch_size": 7,
        "shuffle": True,
        "seed": 3,
        "output": "numpy",
        "masks": True,
        **options,
    }
    return list(Loader(packed, transform=transform, **common))


def loaded_with_areas(packed, transform, **options):
    return loaded(packed, transform, columns=["area"], **options)


@pytest.mark.parametrize("name", PIPELINES)
def test_core_and_pillow_agree(packed, name):
    pairs = zip(
        loaded(packed, PIPELINES[name]),
        loaded(packed, PIPELINES[name], backend="pillow"),
        strict=True,
    )
    for (images, targets), (expected, expected_targets) in pairs:
        assert len(images) == len(expected) == len(targets)
        for image, other in zip(images, expected, strict=True):
            apart = np.abs(image.astype(float) - other)
            assert apart.max() <= (1 if name == "bent" else 0)
        for target, other in zip(targets, expected_targets, strict=True):
            assert target.keys() == other.keys()
            for key, value in target.items():
                np.testing.assert_array_equal(value, other[key], err_msg=key)


def test_what_a_sample_carries(packed):
    (images, targets), *_ = loaded_with_areas(packed, None, batch_size=24, shuffle=False)

    assert isinstance(images, list)
    for number, (image, target) in enumerate(zip(images, targets, strict=True)):
        known = make_sample(number).columns
        assert target["image_id"] == 1000 + number
        assert target["labels"].tolist() == (known["box_labels"] + 1).tolist()
        assert target["masks"].shape == (number % 4, *image.shape[1:])
        for key in ("boxes", "keypoints", "area"):
            np.testing.assert_array_equal(target[key], known[key])


def test_masks_lie_on_their_rectangles_after_all(packed):
    for images, targets in loaded(packed, T.ssd()):
        for image, target in zip(images, targets, strict=True):
            for mask, (left, top, right, bottom) in zip(
                target["masks"], target["boxes"], strict=True
            ):
                rows, columns = np.nonzero(mask)
                around = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
                np.testing.assert_allclose(around, (left, top, right, bottom), atol=1.01)
            assert target["masks"].shape[1:] == image.shape[1:]


def test_objects_that_are_dropped_take_their_masks_along(packed):
    transform = T.Compose([T.RandomIoUCrop(), T.SanitizeBoundingBoxes(min_size=9)])
    for _, targets in loaded_with_areas(packed, transform):
        for target in targets:
            lengths = {key: len(target[key]) for key in ("boxes", "labels", "masks", "area")}
            assert len(set(lengths.values())) == 1, lengths


def test_masks_of_objects_come_on_request_only(packed):
    for _, targets in loaded(packed, T.ssd(), masks=None):
        assert all("masks" not in target and "mask_number" not in target for target in targets)
    (_, padded), *_ = loaded(packed, T.ssd(), masks=False, targets="padded")
    assert "masks" not in padded


def test_masks_do_not_change_the_rest(packed):
    pairs = zip(loaded(packed, T.ssd()), loaded(packed, T.ssd(), masks=False), strict=True)
    for (images, targets), (expected, others) in pairs:
        for image, other in zip(images, expected, strict=True):
            np.testing.assert_array_equal(image, other)
        for target, other in zip(targets, others, strict=True):
            assert target.keys() - other.keys() == {"masks"}
            np.testing.assert_array_equal(target["boxes"], other["boxes"])


def test_masks_that_are_not_there_are_refused(packed, folder, tmp_path):
    for data in (folder, sorted(folder.rglob("*.jpg"))):
        with pytest.raises(LoaderError, match=r"masks=True, but .* has no masks"):
            Loader(data, masks=True)
    with pytest.raises(LoaderError, match="cannot be had together"):
        Loader(packed, masks=True, targets="labels")
    with pytest.raises(LoaderError, match="masks must be True, False"):
        Loader(packed, masks=3)
    with pytest.raises(LoaderError, match="mask_fill=255 is for masks of whole images"):
        Loader(packed, masks=True, mask_fill=255)


def test_damaged_masks_are_told_from_good_ones(tmp_path):
    items = [make_sample(n) for n in range(1, 4)]
    broken = bytearray(items[1].columns["masks"])
    broken[-1] = 200  # in the middle of a number
    items[1] = PackItem(items[1].name, items[1].data, {**items[1].columns, "masks": bytes(broken)})
    pack(ListSource(items, (*COLUMNS, AREA)), tmp_path / "bad.pen", progress=False)
    (problem,) = verify(tmp_path / "bad.pen", deep=True, progress=False).problems
    assert "sample 1 (2.png): the run lengths of a mask end in the middle of a number" in problem
    with pytest.raises(DecodeError, match=r"2.png.*end in the middle of a number"):
        loaded(tmp_path / "bad.pen", None)
    ((_, targets),) = loaded(tmp_path / "bad.pen", None, on_error="skip", shuffle=False)
    assert [target["image_id"] for target in targets] == [1001, 1003]


def test_masks_after_a_step_of_ones_own(packed):
    transform = T.Compose([T.RandomIoUCrop(), _unchanged, T.RandomHorizontalFlip()])
    pairs = zip(loaded(packed, transform), loaded(packed, transform, backend="pillow"), strict=True)
    for (_, targets), (_, expected) in pairs:
        for target, other in zip(targets, expected, strict=True):
            assert len(target["masks"]) == len(target["boxes"])
            np.testing.assert_array_equal(target["masks"], other["masks"])


def _unchanged(image):
    return image


def test_padded(packed):
    listed = loaded(packed, T.detection("hflip"))
    for (images, padded), (_, targets) in zip(
        loaded(packed, T.detection("hflip"), targets="padded"), listed, strict=True
    ):
        assert padded["counts"].tolist() == [len(target["boxes"]) for target in targets]
        assert images.shape[0] == len(targets)
        assert padded["masks"].shape[2:] == images.shape[2:]
        for row, target in enumerate(targets):
            count = len(target["boxes"])
            height, width = padded["sizes"][row]
            np.testing.assert_array_equal(padded["boxes"][row, :count], target["boxes"])
            assert (padded["labels"][row, count:] == -1).all()
            assert not images[row, :, height:].any()
            np.testing.assert_array_equal(
                padded["masks"][row, :count, :height, :width], target["masks"]
            )


def test_images_of_one_size_are_one_array(packed):
    for images, targets in loaded(packed, T.ssd(size=(60, 50))):
        assert images.shape[1:] == (3, 60, 50)
        assert all(target["masks"].shape[1:] == (60, 50) for target in targets)


def test_labels_can_be_asked_for(packed):
    with pytest.raises(LoaderError, match=r"has none\. Use targets='none' for images alone"):
        loaded(packed, T.Resize((20, 20)), targets="labels", masks=None)

    images = loaded(packed, T.Resize((20, 20)), targets="none", masks=None)[0]

    assert images.shape == (7, 3, 20, 20)


def test_batches_are_the_same_in_threads_and_after_resuming(packed):
    whole = loaded(packed, T.ssd(), threads=3)
    loader = Loader(packed, transform=T.ssd(), batch_size=7, shuffle=True, seed=3, output="numpy")
    first = next(iter(loader))
    again = Loader(packed, transform=T.ssd(), batch_size=7, shuffle=True, seed=3, output="numpy")
    again.load_state_dict(loader.state_dict())
    for (images, targets), (expected, expected_targets) in zip([first, *again], whole, strict=True):
        for image, other in zip(images, expected, strict=True):
            np.testing.assert_array_equal(image, other)
        for target, other in zip(targets, expected_targets, strict=True):
            np.testing.assert_array_equal(target["boxes"], other["boxes"])


def test_targets_of_ones_own(folder):
    files = sorted(folder.rglob("*.jpg"))
    offsets = np.arange(len(files) + 1)
    boxes = np.tile([[1, 2, 11, 22]], (len(files), 1))
    targets = read_targets(offsets, boxes=boxes, labels=offsets[:-1])
    (_, delivered), *_ = Loader(
        files, targets=targets, transform=T.RandomHorizontalFlip(0), batch_size=4, output="numpy"
    )

    assert [target["boxes"].tolist() for target in delivered] == [[[1, 2, 11, 22]]] * 4
    assert [target["labels"].tolist() for target in delivered] == [[0], [1], [2], [3]]
    with pytest.raises(LoaderError, match="Give one row for each"):
        Loader(files[1:], targets=targets)


def test_what_cannot_be_asked_for(folder):
    with pytest.raises(LoaderError, match="has no boxes"):
        Loader(folder, targets="list")
    with pytest.raises(LoaderError, match="must be 'list'"):
        Loader(folder, targets="boxes")


def test_masks_of_whole_images(tmp_path):
    items = []
    for number in range(4):
        pixels = np.random.default_rng(number).integers(0, 256, (30, 40, 3), np.uint8)
        mask = np.random.default_rng(number).integers(0, 21, (30, 40), np.uint8)
        items.append(PackItem(f"{number}.png", png_of(pixels), {"masks": png_of(mask)}))
    pack(ListSource(items, (MASKS,)), tmp_path / "masks.pen", progress=False)
    ((images, masks),) = loaded(
        tmp_path / "masks.pen", T.RandomHorizontalFlip(1), batch_size=4, shuffle=False
    )

    assert images.shape == (4, 3, 30, 40)
    assert masks.dtype == np.int64
    for number, mask in enumerate(masks):
        expected = np.random.default_rng(number).integers(0, 21, (30, 40), np.uint8)
        np.testing.assert_array_equal(mask, expected[:, ::-1])


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_whole_images_have_one_mask_each(tmp_path, count, backend):
    pixels = np.zeros((8, 9, 3), dtype=np.uint8)
    masks = png_of(np.zeros((8 * count, 9), dtype=np.uint8)) if count else b""
    item = PackItem("a.png", png_of(pixels), {"masks": masks})
    pack(ListSource([item], (MASKS,)), tmp_path / "masks.pen", progress=False)

    reason = "it has no mask" if count == 0 else "its mask is 16x9, the image 8x9"
    with pytest.raises(DecodeError, match=reason):
        loaded(tmp_path / "masks.pen", None, backend=backend)


def test_bad_images_are_left_out_with_their_targets(tmp_path):
    items = [make_sample(n) for n in range(6)]
    target = tmp_path / "bad.pen"
    pack(ListSource(items, (*COLUMNS, AREA)), target, progress=False)
    pixels = [np.prod(PIL.Image.open(io.BytesIO(item.data)).size) for item in items]
    limit = int(np.median(pixels))
    loader = Loader(target, batch_size=6, on_error="skip", pixel_limit=limit, output="numpy")
    ((_, targets),) = loader

    left = [1000 + number for number, count in enumerate(pixels) if count <= limit]
    assert len(left) == 3
    assert [found["image_id"] for found in targets] == left
