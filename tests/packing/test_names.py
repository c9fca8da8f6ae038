"""What can be packed can be unpacked, whatever its name; what cannot is refused when packing."""

import io
import json
import os
import tarfile
import unicodedata
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packing.samples import ListSource, image_file
from penstock.errors import PackError
from penstock.packing import job as job_module
from penstock.packing import unpack as unpack_module
from penstock.packing.items import LABEL, PackItem
from penstock.packing.pack import pack
from penstock.packing.unpack import COLUMNS_FILE, unpack

pytestmark = pytest.mark.usefixtures("fake_codec")

JPEG, BMP, PNG = (image_file(ord(kind[0]), (2, 3), kind) for kind in ("JPEG", "BMP", "PNG"))
E_ACUTE = "\u00e9"


def files_below(folder):
    found = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder): Path(path).read_bytes() for path in found}


def round_trip(tmp_path, items):
    pack(ListSource(list(items)), tmp_path / "a.pen", progress=False)
    unpacked = unpack(tmp_path / "a.pen", tmp_path / "out", progress=False)
    return files_below(tmp_path / "out"), unpacked


@pytest.mark.parametrize(
    "names",
    [
        ["a\\b.jpg", "a/b.jpg", "..\\c.jpg", "C:\\d.jpg"],
        ["A.jpg", "a.jpg", "a.JPG"],
        [unicodedata.normalize(form, f"{E_ACUTE}.jpg") for form in ("NFC", "NFD")],
        ["\udcff.jpg", "caf\udce9/\udcff.jpg"],  # bytes that are not UTF-8
        ["x" * 255, "y" * 251 + ".jpg", "z" * 255 + "/1.jpg"],
        ["/".join(["d" * 200] * 20) + "/" + "e" * 70],  # 4,090 bytes: more than can be opened
        ["\n\r\t\x1b[31m.jpg", " .jpg", "-rf", "a:b?.jpg", "con.jpg", "~"],
    ],
    ids=["backslash", "case", "normalisation", "not UTF-8", "255 bytes", "long path", "odd"],
)
def test_such_names_come_back_as_they_are(tmp_path, names):
    items = [PackItem(name, image_file(seed, (2, 3))) for seed, name in enumerate(names)]
    pack(ListSource(items), tmp_path / "a.pen")
    unpacked = unpack(tmp_path / "a.pen", tmp_path / "out")
    assert unpacked.files == unpacked.identical == len(names)

    folder = os.open(tmp_path / "out", os.O_RDONLY)
    for item in items:
        inner = os.dup(folder)
        *parts, last = item.name.split("/")
        for part in parts:
            outer, inner = inner, os.open(part, os.O_RDONLY, dir_fd=inner)
            os.close(outer)
        with open(os.open(last, os.O_RDONLY, dir_fd=inner), "rb") as file:
            assert file.read() == item.data
        os.close(inner)
    os.close(folder)


def test_an_image_that_becomes_a_png_leaves_the_png_beside_it_alone(tmp_path):
    """Only the pixels of a BMP are kept, so it comes back with another ending."""
    items = [PackItem("a.bmp", BMP), PackItem("a.bmp.png", PNG), PackItem("b.bmp.png", PNG)]
    items += [PackItem("b.bmp", BMP), PackItem("b.bmp.2.png", PNG)]
    found, unpacked = round_trip(tmp_path, items)
    assert sorted(found) == [
        *("a.bmp.2.png", "a.bmp.png"),
        *("b.bmp.2.png", "b.bmp.3.png", "b.bmp.png"),
    ]
    assert (unpacked.files, unpacked.pixels, unpacked.repeated) == (5, 5, 0)
    for name, data in found.items():
        is_bmp = name in {"a.bmp.2.png", "b.bmp.3.png"}  # who has the name by itself keeps it
        np.testing.assert_array_equal(pixels(data), pixels(BMP if is_bmp else PNG))


def test_a_long_name_gets_its_ending_all_the_same(tmp_path):
    kinds = {"x" * 251 + ".bmp": "BMP", "x" * 251 + ".gif": "GIF", "é" * 126 + ".gi": "GIF"}
    items = [PackItem(name, image_file(len(name), (2, 3), kinds[name])) for name in kinds]
    found, _ = round_trip(tmp_path, items)
    names = ["x" * 251 + ".png", "x" * 249 + ".2.png", "é" * 125 + ".png"]
    assert set(found) == set(names)
    for item, name in zip(items, names, strict=True):
        np.testing.assert_array_equal(pixels(item.data), pixels(found[name]))


def pixels(data):
    return np.asarray(PIL.Image.open(io.BytesIO(data)).convert("RGB"))


def test_a_file_listed_twice_comes_back_once(tmp_path):
    items = [PackItem("a.jpg", JPEG, {"label": n}) for n in range(3)]
    pack(ListSource(items, (LABEL,)), tmp_path / "a.pen", shards=2)
    unpacked = unpack(tmp_path / "a.pen", tmp_path / "out")
    assert (unpacked.files, unpacked.identical, unpacked.repeated) == (1, 1, 2)
    assert (tmp_path / "out" / "a.jpg").read_bytes() == JPEG
    lines = [json.loads(line) for line in (tmp_path / "out" / COLUMNS_FILE).open()]
    assert [(line["file"], line["columns"]["label"]) for line in lines] == [
        ("a.jpg", 0), ("a.jpg", 1), ("a.jpg", 2)
    ]  # fmt: skip


def test_different_files_of_one_name_all_come_back(tmp_path):
    items = [PackItem("d/a.jpg", image_file(n)) for n in range(3)]
    found, unpacked = round_trip(tmp_path, items)
    assert sorted(found) == ["d/a.2.jpg", "d/a.3.jpg", "d/a.jpg"]
    assert sorted(found.values()) == sorted(item.data for item in items)
    assert unpacked.files == 3


def test_a_file_with_the_name_of_a_folder_or_of_ours_comes_back(tmp_path):
    names = ["a", "a/b", "a/b/c.jpg", COLUMNS_FILE]
    items = [PackItem(name, image_file(n), {"label": n}) for n, name in enumerate(names)]
    pack(ListSource(items, (LABEL,)), tmp_path / "a.pen")
    unpack(tmp_path / "a.pen", tmp_path / "out")
    found = files_below(tmp_path / "out")
    lines = [json.loads(line) for line in found.pop(COLUMNS_FILE).splitlines()]
    assert [found[line["file"]] for line in lines] == [item.data for item in items]
    assert sorted(found) == ["a.2", "a/b.2", "a/b/c.jpg", "columns.2.jsonl"]


def test_in_a_tar_an_image_is_told_from_what_lies_beside_it(tmp_path):
    items = [PackItem(name, JPEG, {"label": 1}) for name in ("a.json", "a.cls", "a", "a")]
    pack(ListSource(items, (LABEL,)), tmp_path / "a.pen")
    unpack(tmp_path / "a.pen", tmp_path / "a.tar")
    with tarfile.open(tmp_path / "a.tar") as tar:
        names = tar.getnames()
        assert len(set(names)) == len(names) == 12
        assert tar.extractfile("000000000.jpg").read() == JPEG


UNUSABLE = {
    "../out.jpg": "not a path below",
    "/etc/x.jpg": "not a path below",
    "a//b.jpg": "not a path below",
    "a/./b": "not a path below",
    "a/": "not a path below",
    "..": "not a path below",
    "": "it is empty",
    "a\0b.jpg": "zero byte",
    "\ud800.jpg": "not Unicode",
    "x" * 256: "a part of it has 256 bytes, at most 255",
    "é" * 128: "a part of it has 256 bytes",
    "d/" * 2047 + "xx": "4,096 bytes, at most 4,095",
    "d/" * 100 + "x": "101 folders deep",
}


@pytest.mark.parametrize("name", UNUSABLE, ids=lambda name: repr(name[:12]))
def test_names_that_no_file_can_have_are_refused_when_packing(tmp_path, name):
    items = [PackItem("good.jpg", JPEG), PackItem(name, JPEG)]
    with pytest.raises(PackError, match=rf"no file can be unpacked .*{UNUSABLE[name]}.*--on-error"):
        pack(ListSource(items), tmp_path / "a.pen")
    summary = pack(ListSource(items), tmp_path / "a.pen", resume=True, on_error="skip")
    assert (summary.samples, len(summary.skipped)) == (1, 1)
    assert UNUSABLE[name] in summary.skipped[0]


@pytest.mark.parametrize("format", ["folder", "tar"])
@pytest.mark.parametrize(
    "name", [n for n in UNUSABLE if n[0:1] != "\ud800"], ids=lambda name: repr(name[:12])
)
def test_nothing_is_written_for_a_file_that_holds_such_a_name(tmp_path, monkeypatch, name, format):
    monkeypatch.setattr(job_module, "check_name", lambda _: None)
    pack(ListSource([PackItem(name, JPEG)]), tmp_path / "a.pen")
    with pytest.raises(PackError, match=r"sample 0 is named .* not a path below the target: "):
        unpack(tmp_path / "a.pen", tmp_path / "out", format=format)
    assert os.listdir(tmp_path) == ["a.pen"]


def test_a_link_in_the_target_is_not_followed(tmp_path, monkeypatch):
    """Put there by somebody else while files are written: at the start, the folder is empty."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real = unpack_module.UnpackedNames.__getitem__

    def plant(names, index):
        if not (tmp_path / "out" / "linked").exists():
            (tmp_path / "out" / "linked").symlink_to(elsewhere)
            (tmp_path / "out" / "file.jpg").symlink_to(elsewhere / "file.jpg")
        return real(names, index)

    for name in ("linked/x.jpg", "linked/deep/x.jpg", "file.jpg"):
        (tmp_path / "out").mkdir()
        pack(ListSource([PackItem(name, JPEG)]), tmp_path / "a.pen")
        with monkeypatch.context() as patch:
            patch.setattr(unpack_module.UnpackedNames, "__getitem__", plant)
            with pytest.raises(PackError, match=r"out/.*: cannot be written"):
                unpack(tmp_path / "a.pen", tmp_path / "out")
        assert os.listdir(elsewhere) == []
        for path in (tmp_path / "out").iterdir():
            path.unlink()
        (tmp_path / "out").rmdir()
        (tmp_path / "a.pen").unlink()


PARTS = st.one_of(
    st.sampled_from(["a", "A", "a.bmp", "a.bmp.png", "a.2", "b\\c", "é", "e\u0301", "x" * 255]),
    st.text(st.characters(exclude_characters="/"), max_size=8),
    st.binary(max_size=6).map(lambda raw: os.fsdecode(raw).replace("/", "")),
)
NAMES = st.lists(PARTS, min_size=1, max_size=3).map("/".join)
FILES = st.sampled_from([JPEG, image_file(1, (2, 3)), BMP, PNG, image_file(1, (2, 3), "PNG")])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(samples=st.lists(st.tuples(NAMES, FILES), max_size=8))
def test_whatever_was_packed_is_unpacked(tmp_path_factory, samples):
    """Every sample is a file with its content, or its pixels, or was left out with a reason."""
    folder = tmp_path_factory.mktemp("names")
    source = ListSource([PackItem(name, data, {"label": 0}) for name, data in samples], (LABEL,))
    summary = pack(source, folder / "a.pen", on_error="skip", threads=1, progress=False)
    assert summary.samples + len(summary.skipped) == len(samples)

    unpack(folder / "a.pen", folder / "out", threads=1, progress=False)
    found = files_below(folder / "out")
    lines = [json.loads(line) for line in found.pop(COLUMNS_FILE).splitlines()]
    stored = [one for one in samples if not unpack_module._what_is_wrong(one[0])]
    assert len(lines) == len(stored) == summary.samples
    assert {line["file"] for line in lines} == set(found)
    for line, (_, data) in zip(lines, stored, strict=True):
        np.testing.assert_array_equal(pixels(found[line["file"]]), pixels(data))
        assert not data.startswith(b"\xff\xd8") or found[line["file"]] == data
