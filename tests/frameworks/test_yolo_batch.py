"""Batches as trainers of YOLO take them: flat arrays from which the source's boxes come back."""

import numpy as np
import pytest

import layout_samples
import penstock as ps
from packing.samples import ListSource, image_file
from penstock import transforms as T
from penstock.errors import LoaderError
from penstock.packing.items import BOX_LABELS, BOXES, PackItem

KEYS = ["img", "cls", "bboxes", "batch_idx", "im_file", "ori_shape", "resized_shape"]
COUNTS = (2, 0, 1, 3, 1)
SHAPES = ((60, 80), (81, 50), (33, 33), (120, 41), (40, 200))


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Images of several sizes with none to three boxes."""
    rng, items = np.random.default_rng(0), []
    for number, (count, shape) in enumerate(zip(COUNTS, SHAPES, strict=True)):
        corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1) * shape[::-1]
        values = {
            "boxes": corners.reshape(count, 4).astype(np.float32),
            "box_labels": rng.integers(0, 3, count),
        }
        file = image_file(number, size=shape)
        items.append(PackItem(f"{number}.jpg", file, values))
    source = ListSource(items, (BOXES, BOX_LABELS), box_classes=("ant", "bee", "cow"))
    source.box_class_ids = (7, 3, 90)
    path = tmp_path_factory.mktemp("yolo") / "boxes.pen"
    ps.pack(source, path, progress=False)
    return path


def batches(data, transform, **options):
    loader = ps.Loader(data, transform=transform, background=True, output="numpy", **options)
    try:
        return list(loader)
    finally:
        loader.close()


def in_file(batch):
    """The boxes of a batch in pixels of their files, as (image, class, corners)."""
    found = []
    for owner, label, box in zip(batch["batch_idx"], batch["cls"], batch["bboxes"], strict=True):
        (down, across), (left, top) = batch["ratio_pad"][int(owner)]
        height, width = batch["resized_shape"][int(owner)]
        middle = np.array([box[0] * width - left, box[1] * height - top])
        half = np.array([box[2] * width, box[3] * height]) / 2
        scale = np.array([across, down])
        found.append(
            (int(owner), int(label[0]), [*(middle - half) / scale, *(middle + half) / scale])
        )
    return found


@pytest.mark.parametrize(
    "transform",
    [
        T.LetterBox(64),
        T.Resize((50, 70)),
        T.Compose([T.Resize(48), T.CenterCrop((251, 260)), T.ToDtype("float32", scale=True)]),
        T.Compose([T.Pad((3, 5, 1, 2)), T.LetterBox((96, 32))]),
    ],
    ids=["letter box", "resize", "crop", "pad"],
)
def test_the_sources_boxes_come_back(packed, transform):
    (batch,) = batches(packed, transform, batch_size=5, targets="yolo")
    source = ps.open_data(packed)
    counts, rows = source.rows([BOXES, BOX_LABELS], np.arange(5))

    assert list(batch) == [*KEYS, "ratio_pad"]
    assert batch["batch_idx"].tolist() == np.repeat(np.arange(5), COUNTS).tolist()
    assert counts.tolist() == list(COUNTS)
    assert batch["ori_shape"] == list(SHAPES)
    assert batch["cls"].tolist() == rows["box_labels"].reshape(-1, 1).tolist()
    found = np.array([corners for *_, corners in in_file(batch)])
    np.testing.assert_allclose(
        found, rows["boxes"], atol=2e-4
    )  # float32 shares of up to 200 pixels


def test_types_and_images(packed):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    loader = ps.Loader(packed, transform=T.LetterBox((64, 96)), batch_size=5, targets="yolo")
    (batch,) = loader
    (pair,) = ps.Loader(packed, transform=T.LetterBox((64, 96)), batch_size=5, targets="none")

    assert torch.equal(batch["img"], pair)
    assert (batch["img"].shape, batch["img"].dtype) == ((5, 3, 64, 96), torch.uint8)
    assert (batch["cls"].shape, batch["cls"].dtype) == ((7, 1), torch.float32)
    assert (batch["bboxes"].shape, batch["bboxes"].dtype) == ((7, 4), torch.float32)
    assert (batch["batch_idx"].shape, batch["batch_idx"].dtype) == ((7,), torch.float32)
    assert batch["im_file"] == [f"{number}.jpg" for number in range(5)]
    assert batch["resized_shape"] == [(64, 96)] * 5
    assert loader.classes == ("ant", "bee", "cow")


def test_a_random_place_has_no_ratio_and_pad(packed):
    transform = T.Compose([T.RandomHorizontalFlip(1.0), T.LetterBox(64)])
    (batch,) = batches(packed, transform, batch_size=5, targets="yolo")
    (plain,) = batches(packed, T.LetterBox(64), batch_size=5, targets="yolo")

    assert list(batch) == KEYS
    np.testing.assert_allclose(batch["bboxes"][:, 0], 1 - plain["bboxes"][:, 0], atol=1e-6)
    np.testing.assert_allclose(batch["bboxes"][:, 1:], plain["bboxes"][:, 1:], atol=1e-6)


def test_a_batch_without_objects(packed):
    (batch,) = batches(packed, T.LetterBox(64), targets="yolo", indices=[1])

    assert batch["cls"].shape == (0, 1)
    assert batch["bboxes"].shape == (0, 4)
    assert batch["batch_idx"].shape == (0,)


def test_skipped_files_leave_no_gap(packed, tmp_path):
    layout_samples.yolo(tmp_path)
    good = batches(tmp_path, T.LetterBox(32), batch_size=3, targets="yolo")
    images = sorted(tmp_path.rglob("images/**/*.*"))
    next(path for path in images if path.suffix in {".jpg", ".png"}).write_bytes(b"broken")
    left = batches(tmp_path, T.LetterBox(32), batch_size=3, targets="yolo", on_error="skip")

    assert sum(len(batch["img"]) for batch in left) == sum(len(batch["img"]) for batch in good) - 1
    for batch in left:
        assert len(batch["im_file"]) == len(batch["ori_shape"]) == len(batch["img"])
        assert all(side > 0 for shape in batch["ori_shape"] for side in shape)
        assert set(batch["batch_idx"].tolist()) <= set(range(len(batch["img"])))


def test_pillows_backend_gives_the_same(packed):
    (ours,) = batches(packed, T.LetterBox(64), batch_size=5, targets="yolo")
    (theirs,) = batches(packed, T.LetterBox(64), batch_size=5, targets="yolo", backend="pillow")

    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_what_does_not_go_with_it(packed, folder, tmp_path):
    with pytest.raises(LoaderError, match="a batch needs one size"):
        batches(packed, None, batch_size=5, targets="yolo")
    with pytest.raises(LoaderError, match="has no boxes or keypoints"):
        ps.Loader(folder, targets="yolo")
    with pytest.raises(LoaderError, match="Leave out columns"):
        ps.Loader(packed, targets="yolo", columns=["name"])
    with pytest.raises(LoaderError, match="Leave out as_dict"):
        ps.Loader(packed, targets="yolo", as_dict=True)
    with pytest.raises(LoaderError, match="'padded', 'yolo', 'labels'"):
        ps.Loader(packed, targets="coco")
    layout_samples.coco(tmp_path)
    with pytest.raises(LoaderError, match="targets='yolo' and the masks"):
        ps.Loader(tmp_path, targets="yolo", masks=True)
