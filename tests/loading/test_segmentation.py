"""Images with a mask each: class numbers arrive as they are, where their pixels are."""

import numpy as np
import pytest
from PIL import Image

from mask_samples import image_of, label_map, palette_mask, write_pairs
from penstock import Loader, pack
from penstock import transforms as T
from penstock.errors import DecodeError, LoaderError, SourceError, TransformError

SIZES = [(24, 32), (31, 17), (1, 1), (40, 40), (9, 50), (33, 20)]
# No filter of the image mixes colours here, so that its red stays the mask.
MOVES = {
    "nothing": None,
    "crop and flips": T.Compose(
        [
            T.RandomCrop((16, 16), padding=3, pad_if_needed=True, fill=255),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
        ]
    ),
    "resize": T.Resize((20, 30), interpolation="nearest"),
    "zoom out": T.RandomZoomOut(fill=255, p=1.0),
    "pad": T.Pad((1, 2, 3, 4), fill=255),
    "reflect": T.Pad(5, padding_mode="symmetric"),
    "rotation": T.RandomRotation(170, interpolation="nearest", expand=True, fill=255),
    "affine": T.RandomAffine(40, (0.3, 0.3), (0.5, 2.0), 20, interpolation="nearest", fill=255),
    "perspective": T.RandomPerspective(0.5, p=1.0, interpolation="nearest", fill=255),
    "elastic": T.Compose(
        [
            T.Resize((30, 40), interpolation="nearest"),
            T.ElasticTransform(20.0, 3.0, interpolation="nearest", fill=255),
        ]
    ),
    "resized crop": T.RandomResizedCrop((24, 24), interpolation="nearest"),
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    root = tmp_path_factory.mktemp("pairs")
    labels = write_pairs(root, SIZES, folders=("train/a", "train/b"))
    return root, labels


def batches(root, transform=None, **options):
    common = {"batch_size": 4, "output": "numpy", "seed": 5, **options}
    return list(Loader(root / "images", masks=root / "masks", transform=transform, **common))


def test_masks_come_as_class_numbers_in_the_order_of_the_images(pairs):
    root, labels = pairs
    found = [mask for _, masks in batches(root) for mask in masks]

    for mask, expected in zip(found, labels, strict=True):
        assert mask.dtype == np.int64
        np.testing.assert_array_equal(mask, expected)


@pytest.mark.parametrize("backend", ["native", "pillow"])
@pytest.mark.parametrize("name", MOVES)
def test_masks_stay_on_their_pixels(pairs, name, backend):
    root, _ = pairs
    delivered = batches(root, MOVES[name], mask_fill=255, shuffle=True, backend=backend, threads=2)
    assert sum(len(images) for images, _ in delivered) == len(SIZES)
    for images, masks in delivered:
        assert isinstance(masks, list) == isinstance(images, list)
        for image, mask in zip(images, masks, strict=True):
            np.testing.assert_array_equal(image[0], mask)


@pytest.mark.parametrize("outside", [0, 255, 1000])
def test_what_comes_in_from_outside_can_be_chosen(pairs, outside):
    root, labels = pairs
    for backend in ("native", "pillow"):
        found = batches(root, T.Pad(2), batch_size=1, mask_fill=outside, backend=backend)
        for (_, (mask,)), expected in zip(found, labels, strict=True):
            np.testing.assert_array_equal(
                mask, np.pad(expected.astype(int), 2, constant_values=outside)
            )


def test_batches_of_one_size_are_ready_for_a_loss(pairs):
    torch = pytest.importorskip("torch")
    root, _ = pairs
    transform = T.Compose([T.RandomResizedCrop((16, 16)), T.ToDtype("float32", scale=True)])
    loader = Loader(
        root / "images", masks=root / "masks", transform=transform, batch_size=6, mask_fill=255
    )
    ((images, masks),) = loader

    assert masks.shape == (6, 16, 16)
    assert masks.dtype == torch.int64
    scores = torch.nn.Conv2d(3, 21, 1)(images)
    loss = torch.nn.functional.cross_entropy(scores, masks, ignore_index=255)
    assert torch.isfinite(loss)


def test_crops_and_flips_are_torchvisions(pairs):
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    root, labels = pairs
    ours = T.Compose(
        [T.Pad(4), T.CenterCrop(20), T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(1.0)]
    )
    theirs = v2.Compose(
        [v2.Pad(4), v2.CenterCrop(20), v2.RandomHorizontalFlip(1.0), v2.RandomVerticalFlip(1.0)]
    )
    for (_, (mask,)), one in zip(batches(root, ours, batch_size=1), labels, strict=True):
        expected = theirs(tv_tensors.Mask(torch.from_numpy(one)))
        np.testing.assert_array_equal(mask, expected.numpy())


def test_sizes_that_differ_can_be_padded(pairs):
    root, labels = pairs
    ((images, masks),) = batches(root, batch_size=6, targets="padded", mask_fill=7)

    assert images.shape == (6, 3, 40, 50)
    assert masks.shape == (6, 40, 50)
    for mask, one in zip(masks, labels, strict=True):
        np.testing.assert_array_equal(mask[: one.shape[0], : one.shape[1]], one)
        assert (mask[one.shape[0] :] == 7).all()


def test_packed_pairs_give_the_same_batches(pairs, tmp_path):
    root, _ = pairs
    pack(root / "images", tmp_path / "pairs.pen", masks=root / "masks", progress=False)
    options = {"transform": MOVES["affine"], "batch_size": 4, "output": "numpy", "shuffle": True}
    packed = Loader(tmp_path / "pairs.pen", **options)
    loose = Loader(root / "images", masks=root / "masks", **options)
    for (images, masks), (expected, expected_masks) in zip(packed, loose, strict=True):
        for got, one in zip([*images, *masks], [*expected, *expected_masks], strict=True):
            np.testing.assert_array_equal(got, one)


def test_lists_of_files_are_pairs_too(pairs):
    root, labels = pairs
    images, masks = (sorted((root / part).rglob("*.png")) for part in ("images", "masks"))
    found = [m for _, ms in Loader(images, masks=masks, output="numpy") for m in ms]

    for mask, expected in zip(found, labels, strict=True):
        np.testing.assert_array_equal(mask, expected)
    with pytest.raises(SourceError, match="5 files for 6 images"):
        Loader(images, masks=masks[1:])


def saved(path, mode):
    labels = label_map(3, (12, 10), classes=200)
    if mode == "P":
        palette_mask(labels).save(path)
    elif mode == "L":
        Image.fromarray(labels).save(path)
    elif mode == "1":
        labels = (labels > 100).astype(np.uint8)
        Image.fromarray(labels * 255).convert("1").save(path)
    else:
        labels = labels.astype(np.uint16) * 200
        Image.fromarray(labels).save(path)
    return labels


@pytest.mark.parametrize("mode", ["P", "L", "1", "I;16"])
@pytest.mark.parametrize("extension", [".png", ".tif"])
def test_numbers_are_read_without_a_change_of_colours(tmp_path, mode, extension):
    for part in ("images", "masks"):
        (tmp_path / part).mkdir()
    labels = saved(tmp_path / "masks" / f"a{extension}", mode)
    Image.new("RGB", (10, 12)).save(tmp_path / "images" / "a.jpg")
    pack(tmp_path, tmp_path / "a.pen", progress=False)
    flip = T.RandomHorizontalFlip(1)
    for loader in (
        Loader(tmp_path / "images", masks=tmp_path / "masks", output="numpy", transform=flip),
        Loader(tmp_path / "a.pen", output="numpy", transform=flip),
    ):
        ((_, masks),) = loader
        np.testing.assert_array_equal(masks[0], labels[:, ::-1])


def one_pair(root, mask, size=(12, 10), name="a.png", **options):
    for part in ("images", "masks"):
        (root / part).mkdir()
    Image.new("RGB", size[::-1]).save(root / "images" / "a.jpg", **options)
    mask.save(root / "masks" / name)


@pytest.mark.parametrize(
    ("mask", "name", "reason"),
    [
        (Image.new("RGB", (10, 12)), "a.png", r"in colour \(RGB\).*gray or palette PNGs"),
        (Image.new("L", (10, 12)), "a.jpg", "a JPEG, which blurs"),
        (Image.new("L", (11, 12)), "a.png", r"mask is 12x11, the image 12x10 \(height x width\)"),
        (Image.new("L", (12, 10)), "a.png", "mask is 10x12, the image 12x10.*EXIF orientation"),
    ],
)
def test_masks_that_do_not_fit_are_refused_by_name(tmp_path, mask, name, reason):
    one_pair(tmp_path, mask, name=name)
    with pytest.raises(SourceError, match=rf"masks.{name}: .*{reason}"):
        pack(tmp_path, tmp_path / "a.pen", progress=False)
    for backend in ("native", "pillow"):
        with pytest.raises(DecodeError, match=f"a.jpg: .*{reason}"):
            list(Loader(tmp_path / "images", masks=tmp_path / "masks", backend=backend))


def test_a_bad_mask_is_skipped_with_its_image(tmp_path):
    write_pairs(tmp_path, SIZES)
    (tmp_path / "masks" / "002.png").write_bytes(b"no mask")
    for backend in ("native", "pillow"):
        loader = Loader(
            tmp_path / "images",
            masks=tmp_path / "masks",
            batch_size=6,
            on_error="skip",
            output="numpy",
            backend=backend,
        )
        ((images, masks),) = loader

        assert len(images) == len(masks) == 5
        assert loader.ledger.counts()["skipped"] == 1


def test_a_turned_mask_is_refused(tmp_path):
    turned = Image.Exif()
    turned[0x0112] = 6
    one_pair(tmp_path, Image.new("L", (10, 12)))
    Image.new("L", (10, 12)).save(tmp_path / "masks" / "a.png", exif=turned)
    with pytest.raises(SourceError, match="EXIF orientation 6"):
        pack(tmp_path, tmp_path / "a.pen", progress=False)


def test_every_file_without_a_partner_is_named(tmp_path):
    write_pairs(tmp_path, SIZES)
    (tmp_path / "masks" / "003.png").rename(tmp_path / "masks" / "003_mask.png")
    named = r"1 images have no mask: 003.png; 1 masks have no image: 003_mask.png"
    with pytest.raises(SourceError, match=named):
        Loader(tmp_path / "images", masks=tmp_path / "masks")
    with pytest.raises(SourceError, match=named):
        pack(tmp_path, tmp_path / "a.pen", progress=False)


def test_two_images_of_one_name_are_refused(tmp_path):
    write_pairs(tmp_path, SIZES[:2])
    image_of(label_map(0, (24, 32))).save(tmp_path / "images" / "000.jpg")
    with pytest.raises(SourceError, match="differ in their extensions only"):
        Loader(tmp_path / "images", masks=tmp_path / "masks")


def test_a_step_of_ones_own_between_transforms(pairs):
    root, _ = pairs
    transform = T.Compose([T.RandomHorizontalFlip(1), _unchanged, T.RandomVerticalFlip(1)])
    for images, masks in batches(root, transform):
        for image, mask in zip(images, masks, strict=True):
            np.testing.assert_array_equal(image[0], mask)


def _unchanged(image):
    return image


def test_options_that_make_no_sense(pairs, tmp_path):
    root, _ = pairs
    images, masks = root / "images", root / "masks"
    pack(images, tmp_path / "a.pen", masks=masks, progress=False)
    with pytest.raises(LoaderError, match="mask_fill must be a whole number"):
        Loader(images, masks=masks, mask_fill=-1)
    with pytest.raises(LoaderError, match="goes with a folder or a list"):
        Loader(tmp_path / "a.pen", masks=masks)
    with pytest.raises(LoaderError, match="labels= and masks="):
        Loader(images, masks=masks, labels=[1])
    with pytest.raises(LoaderError, match="none are delivered"):
        Loader(tmp_path / "a.pen", masks=False, mask_fill=255)
    with pytest.raises(TransformError, match="mixes class labels"):
        Loader(tmp_path / "a.pen", batch_transform=T.MixUp(num_classes=3))
