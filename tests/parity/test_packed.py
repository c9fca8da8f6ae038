"""A packed data set gives the very batches of the files it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock import Loader, pack
from penstock import transforms as T
from penstock.packing.shards import open_packed

TRANSFORMS = {
    "training": T.Compose([T.RandomResizedCrop(96), T.RandomHorizontalFlip()]),
    "evaluation": T.Compose([T.Resize(80), T.CenterCrop(64)]),
    "padded": T.Compose([T.RandomCrop(50, padding=8, pad_if_needed=True, padding_mode="edge")]),
}
PIXEL_LIMIT = 40_000_000


def check_same_batches(files: list[Path], packed: Path, transform, **options) -> Loader:
    """Compare a loader on files with one on the packed file; returns the latter."""
    common = {"transform": transform, "batch_size": 32, "seed": 11, "output": "numpy", **options}
    from_files = Loader(files, labels=list(range(len(files))), shuffle=True, **common)
    from_pack = Loader(packed, shuffle=True, **common)
    for (images, labels), (expected, expected_labels) in zip(from_pack, from_files, strict=True):
        np.testing.assert_array_equal(labels, expected_labels)
        np.testing.assert_array_equal(images, expected)
    return from_pack


def packed_files(files: list[Path], folder: Path) -> Path:
    target = folder / "packed.pen"
    pack(files, target, labels=list(range(len(files))), progress=False)
    return target


@pytest.fixture(scope="module")
def packed_in1k(in1k, tmp_path_factory) -> Path:
    return packed_files(in1k, tmp_path_factory.mktemp("packed"))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_in1k(in1k, packed_in1k, isa, name) -> None:
    """Every photo, every instruction set, no file off the straight path."""
    loader = check_same_batches(in1k, packed_in1k, TRANSFORMS[name])
    assert len(loader.ledger) == 0


def test_pillow_backend(in1k, packed_in1k) -> None:
    """The reference path reads packed files too."""
    common = {"transform": TRANSFORMS["training"], "batch_size": 16, "output": "numpy"}
    native = Loader(packed_in1k, **common)
    pillow = Loader(packed_in1k, backend="pillow", **common)
    for (ours, _), (theirs, _), _ in zip(native, pillow, range(3), strict=False):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("fidelity", ["exact", "fast"])
def test_large(large, tmp_path, isa, fidelity) -> None:
    """Large photos, exact and reduced; progressive ones are tiles like any other when packed."""
    baseline = [path for path in large if fidelity == "exact" or is_baseline(path)]
    packed = packed_files(baseline, tmp_path)
    check_same_batches(baseline, packed, TRANSFORMS["training"], fidelity=fidelity)


def is_baseline(path: Path) -> bool:
    from penstock import _core

    return _core.jpeg_header(path.read_bytes())["route"] == "baseline"


@pytest.mark.parametrize(
    "chosen", [{"kind": "coco"}, {"kind": "yolo"}, {"split": "train"}], ids=str
)
def test_detect(coco_folder, voc_folder, tmp_path, isa, chosen) -> None:
    """Data sets with boxes: the images of COCO, YOLO and VOC are those of their files."""
    given = voc_folder if "split" in chosen else coco_folder
    target = tmp_path / "detect.pen"
    pack(given, target, progress=False, **chosen)
    files = {path.stem: path for path in given.rglob("*.jpg")}
    with_boxes = open_packed(target)
    names = [with_boxes.locate(i)[0].name(with_boxes.locate(i)[1]) for i in range(len(with_boxes))]
    common = {"transform": TRANSFORMS["training"], "batch_size": 32, "output": "numpy"}

    from_pack = Loader(target, **common)
    from_files = Loader([files[Path(name).stem] for name in names], **common)

    assert len(from_pack) == len(from_files) > 0
    for (images, _), expected in zip(from_pack, from_files, strict=True):
        np.testing.assert_array_equal(images, expected)


@pytest.mark.filterwarnings("ignore")
def test_tough(tough, tmp_path, isa) -> None:
    """Odd files in every storage: the same pixels; what cannot be read is left out of the pack."""
    files = tough
    target = tmp_path / "tough.pen"
    summary = pack(files, target, labels=list(range(len(files))), on_error="skip", progress=False)
    options = {"transform": TRANSFORMS["training"], "seed": 2, "output": "numpy"}
    limits = {"pixel_limit": PIXEL_LIMIT, "on_error": "skip"}
    from_pack = {
        int(label): image
        for images, labels in Loader(target, batch_size=16, **options, **limits)
        for image, label in zip(images, labels, strict=True)
    }
    plain = {"transform": T.Resize((48, 40)), "output": "numpy", "batch_size": 1}
    whole_pack = dict(labelled(Loader(target, **plain, **limits)))
    readable = dict(labelled(Loader(files, labels=list(range(len(files))), **plain, **limits)))

    assert summary.samples >= 320
    assert set(whole_pack) == set(readable)
    assert set(from_pack) == set(readable)
    for label, image in readable.items():
        np.testing.assert_array_equal(whole_pack[label], image, err_msg=str(files[label]))


def labelled(loader: Loader):
    for images, labels in loader:
        yield int(labels[0]), images[0]
