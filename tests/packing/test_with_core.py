"""The whole way with the core's own records: files in, the same files out."""

from packing.samples import ListSource, image_file
from penstock.packing.items import PackItem
from penstock.packing.pack import pack
from penstock.packing.unpack import unpack
from penstock.packing.verify import verify

MOST_BYTES_PER_ORIGINAL_BYTE = 1.12
LEAST_IDENTICAL = 0.99


def test_jpegs_of_all_kinds_come_back(tmp_path):
    files = {
        "plain.jpg": image_file(0, (60, 90)),
        "full colour.jpg": image_file(1, (33, 17), subsampling=0),
        "gray.jpg": image_file(2, (8, 9), mode="L"),
        "progressive.jpg": image_file(3, (60, 90), progressive=True),
        "restarts.jpg": image_file(4, (64, 64), restart_marker_rows=1),
        "cmyk.jpg": image_file(5, (20, 20), mode="CMYK"),
        "garbage.jpg": image_file(6) + b"after the end",
        "dot.jpg": image_file(7, (1, 1)),
    }
    items = [PackItem(name, data) for name, data in files.items()]
    summary = pack(ListSource(items), tmp_path / "a.pen")
    assert summary.storages["dct"] >= 6
    assert summary.storages["raw"] == 0
    assert verify(tmp_path / "a.pen", deep=True).problems == ()
    assert verify(tmp_path / "a.pen", originals=True).problems == ()

    unpacked = unpack(tmp_path / "a.pen", tmp_path / "out")
    same = [name for name, data in files.items() if (tmp_path / "out" / name).read_bytes() == data]
    assert unpacked.identical == len(same) >= 6


def test_photos_stay_small_and_come_back(tmp_path, in1k):
    items = [PackItem(path.name, path) for path in in1k]
    summary = pack(ListSource(items), tmp_path / "a.pen")
    assert summary.bytes <= MOST_BYTES_PER_ORIGINAL_BYTE * summary.original_bytes
    assert verify(tmp_path / "a.pen", deep=True).problems == ()
    assert verify(tmp_path / "a.pen", originals=True).problems == ()

    unpack(tmp_path / "a.pen", tmp_path / "out")
    same = sum((tmp_path / "out" / path.name).read_bytes() == path.read_bytes() for path in in1k)
    assert same >= LEAST_IDENTICAL * len(in1k)


def test_bytes_that_only_look_like_a_jpeg_are_refused(tmp_path):
    broken = image_file(0, (60, 90))
    items = [
        PackItem("cut.jpg", broken[: len(broken) // 2]),
        PackItem("start.jpg", broken[:3]),
        PackItem("noise.jpg", b"\xff\xd8\xff" + bytes(range(256)) * 4),
    ]
    summary = pack(ListSource(items), tmp_path / "a.pen", on_error="skip")
    assert (summary.samples, len(summary.skipped)) == (0, 3)
