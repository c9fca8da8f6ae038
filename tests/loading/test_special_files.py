"""FIFOs, sockets and devices: never waited for, and told by name."""

import os

import pytest

import penstock
from dataset_samples import image_bytes
from penstock import Loader
from penstock.errors import DecodeError, PackError
from penstock.regular_file import NotRegularError, open_regular, special_kind

BACKENDS = ("native", "pillow", "opencv", "numpy")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "cat").mkdir(parents=True)
    (tmp_path / "data" / "cat" / "a.jpg").write_bytes(image_bytes())
    return tmp_path / "data"


def test_a_scan_leaves_special_files_out_and_tells(folder, tmp_path):
    os.mkfifo(folder / "cat" / "b.jpg")
    (folder / "cat" / "c.png").symlink_to("/dev/zero")
    left_out = (
        r"left out, as they are no regular files: cat/b.jpg \(a FIFO\), cat/c.png \(a device\)"
    )

    for _ in range(2):  # also if the scan might have been remembered
        with pytest.warns(UserWarning, match=left_out):
            loader = Loader(folder, output="numpy")
    assert len(loader.source) == 1
    summary = penstock.pack(folder, tmp_path / "a.pen")
    assert summary.samples == 1
    assert "cat/b.jpg (a FIFO)" in summary.source


def test_links_to_files_and_broken_links_are_as_before(folder):
    (folder / "cat" / "b.jpg").symlink_to("a.jpg")
    (folder / "cat" / "c.jpg").symlink_to("gone.jpg")

    assert len(Loader(folder, output="numpy").source) == 3


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_a_file_that_becomes_special_after_the_scan_is_an_error(folder, backend, kind):
    if backend == "opencv":
        pytest.importorskip("cv2")
    loader = Loader(folder, output="numpy", backend=backend)
    (folder / "cat" / "a.jpg").unlink()
    if kind == "FIFO":
        os.mkfifo(folder / "cat" / "a.jpg")
    else:
        (folder / "cat" / "a.jpg").symlink_to("/dev/zero")

    with pytest.raises(DecodeError, match=r"a\.jpg: "):
        next(iter(loader))


def test_a_list_with_a_fifo_is_packed_without_it(folder, tmp_path):
    os.mkfifo(folder / "b.jpg")
    files = [folder / "cat" / "a.jpg", folder / "b.jpg"]

    with pytest.raises(DecodeError, match=r"b\.jpg: cannot be read \(it is a FIFO, not a regular"):
        penstock.pack(files, tmp_path / "a.pen")
    summary = penstock.pack(files, tmp_path / "a.pen", resume=True, on_error="skip")
    assert summary.samples == len(summary.skipped) == 1


def test_a_packed_file_that_is_a_fifo_is_refused(tmp_path):
    os.mkfifo(tmp_path / "a.pen")

    for use in (Loader, penstock.inspect, penstock.verify):
        try:
            found = use(tmp_path / "a.pen")
        except PackError as error:
            assert "a FIFO" in str(error)
        else:
            assert "a FIFO" in found.problems[0]


def test_a_file_that_becomes_a_fifo_while_it_is_opened_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "a")
    monkeypatch.setattr("penstock.regular_file.require_regular", lambda _: None)

    with pytest.raises(NotRegularError, match="it is a FIFO, not a regular file"):
        open_regular(tmp_path / "a")


def test_only_what_is_special_is_called_so(tmp_path):
    assert special_kind("/dev/null") == "a device"
    assert special_kind(tmp_path) is None
    assert special_kind(tmp_path / "gone") is None
    assert special_kind("a\0b") is None
    with pytest.raises(OSError, match="no file can have this name"):
        open_regular("a\0b")
    with pytest.raises(OSError, match="it is a folder"):
        open_regular(tmp_path)
