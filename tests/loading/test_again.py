"""Any batch again: bit for bit what iterating delivers."""

import numpy as np
import pytest

import penstock as ps
from mask_samples import write_pairs
from past_batches import CROPS, WAYS, assert_again, make, write_boxed
from penstock import transforms as T
from penstock.errors import DecodeError


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_a_fresh_loader_delivers_the_same(folder, options):
    with_all = make(folder, **options)
    assert_again(make(folder, **options), with_all)
    with_all.close()


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
@pytest.mark.parametrize("backend", ["native", "pillow"])
@pytest.mark.parametrize("more", [{}, {"reuse": ps.Reuse(2), "transform": CROPS}], ids=["", "kept"])
def test_bad_files(broken_folder, on_error, backend, more):
    options = {"on_error": on_error, "backend": backend, **more}
    loader = make(broken_folder, **options)
    assert_again(loader, make(broken_folder, **options))
    assert not len(loader.ledger)
    left_out = [one for step in range(len(loader)) for one in loader.batch_at(0, step).left_out]
    assert {one.file.rpartition("/")[2] for one in left_out} >= {"empty.jpg", "text.jpg"}
    event = {"skip": "skipped", "substitute": "substituted"}[on_error]
    assert {one.event for one in left_out} == {event}


def test_batches_without_a_good_file(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.jpg").write_bytes(b"")
    past = make(sorted(tmp_path.iterdir()), on_error="skip", transform=CROPS).batch_at(0, 0)
    assert past.batch is None
    assert len(past) == 0
    assert len(past.left_out) == 2
    assert "a.jpg: skipped" in past.describe()


def test_bad_files_are_errors(broken_folder):
    with pytest.raises(DecodeError):
        make(broken_folder, batch_size=99).batch_at(0, 0)


@pytest.fixture
def boxed(tmp_path):
    return write_boxed(tmp_path)


@pytest.mark.parametrize("targets", ["list", "padded", "yolo"])
@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_boxes(boxed, targets, backend):
    transform = T.ssd(size=(32, 32))
    options = {"transform": transform, "targets": targets, "backend": backend}
    loader = make(boxed, **options)
    assert_again(loader, make(boxed, **options))
    past = loader.batch_at(1, 0)
    crops = [one for one in past.drawn[0] if one.op == "RandomIoUCrop"]
    assert crops[0].moves[0]["move"] == "crop"
    if targets == "list":
        for target, delivered in zip(past.targets, past.batch[1], strict=True):
            np.testing.assert_array_equal(target["boxes"], delivered["boxes"])


def test_masks(tmp_path):
    write_pairs(tmp_path, [(24, 32), (31, 17), (40, 40), (33, 20)])
    options = {"masks": tmp_path / "masks", "transform": CROPS}
    assert_again(make(tmp_path / "images", **options), make(tmp_path / "images", **options))


def test_packed_data(folder, tmp_path):
    ps.pack(folder, tmp_path / "a.pen")
    loader = make(tmp_path / "a.pen")
    assert_again(loader, make(tmp_path / "a.pen"))
    assert set(loader.batch_at(0, 0).names) < {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.jpg")
    }
