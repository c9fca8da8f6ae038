"""What the core says of many records at once is what is found by looking at them one by one."""

import io

import numpy as np
import PIL.Image
import pytest

from packing.samples import ListSource, image_file
from penstock import _core
from penstock._core import RecordCheck
from penstock.errors import PackError
from penstock.limits import Limits
from penstock.packing.items import PackItem
from penstock.packing.pack import pack
from penstock.packing.parts import tile_layout
from penstock.packing.read import PackFile
from penstock.packing.records import check_tiles, encode_jpeg, rebuild_jpeg
from penstock.packing.sound import Depth, find_sound
from penstock.packing.verify import verify

FILES = (
    image_file(0, (70, 130)),
    image_file(1, (33, 17), subsampling=0),
    image_file(2, (8, 9), mode="L"),
    image_file(3, (60, 90), progressive=True),
)


def answer(record, original, check, **changes):
    """What the core says of one `dct` record whose checksums are right."""
    height, width = encode_jpeg(original)[2:4]
    layout = tile_layout(record)
    columns = {
        "offset": 64, "size": len(record), "crc": _core.checksum(record), "is_dct": 1,
        "height": height, "width": width, "part_count": len(layout.sizes),
        "part_rows": layout.rows, "rows_around": layout.around,
        "original_size": len(original), "original_crc": _core.checksum(original),
    } | changes  # fmt: skip
    table = columns.pop("parts", None)
    sound = np.full(1, 7, dtype=np.uint8)
    _core.check_records(
        sound, check, np.frombuffer(bytes(64) + record + bytes(128), np.uint8),
        parts=layout.table(record) if table is None else table,
        **{name: np.array([value], dtype=np.int64) for name, value in columns.items()},
    )  # fmt: skip
    return bool(sound[0])


def is_right(record, original, check):
    """The same, one thing after the other."""
    try:
        size = check_tiles(record)
        file = rebuild_jpeg(record) if check == RecordCheck.ORIGINAL else original
    except PackError:
        return False
    return file == original and size == tuple(encode_jpeg(original)[2:4])


@pytest.mark.parametrize("original", FILES)
def test_records_with_right_checksums_and_false_contents(original):
    record = encode_jpeg(original).data
    rng = np.random.default_rng(len(record))
    seen = {True: 0, False: 0}
    for trial in range(400):
        changed = bytearray(record)
        if trial:
            changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
        try:
            tile_layout(bytes(changed))
        except PackError:
            continue  # could not be packed at all
        for check in (RecordCheck.TILES, RecordCheck.ORIGINAL):
            expected = is_right(bytes(changed), original, check)
            assert answer(bytes(changed), original, check) == expected
            seen[expected] += 1
    assert min(seen.values()) > 10


@pytest.mark.parametrize(
    "change",
    [
        {"crc": 1}, {"crc": -1}, {"height": 71}, {"width": 0}, {"part_rows": 33},
        {"rows_around": 7}, {"original_size": 1}, {"original_crc": 1}, {"size": 1000},
    ],
)  # fmt: skip
def test_a_false_column_is_found(change):
    record = encode_jpeg(FILES[0]).data
    assert answer(record, FILES[0], RecordCheck.ORIGINAL)
    assert not answer(record, FILES[0], RecordCheck.ORIGINAL, **change)


def test_false_parts_are_found():
    record = encode_jpeg(FILES[0]).data
    table = tile_layout(record).table(record)
    assert answer(record, FILES[0], RecordCheck.BYTES, parts=table)
    for row, column, value in ((0, 0, 5), (1, 1, 5), (len(table) - 1, 0, 2**32 - 1)):
        other = table.copy()
        other[row, column] = value
        assert not answer(record, FILES[0], RecordCheck.BYTES, parts=other)


@pytest.mark.parametrize(
    "change", [{"offset": 10**6}, {"offset": -1}, {"size": 2**62}, {"size": -1}, {"part_count": 99}]
)
def test_nothing_outside_the_arrays_is_read(change):
    with pytest.raises(ValueError, match="outside"):
        answer(encode_jpeg(FILES[0]).data, FILES[0], RecordCheck.BYTES, **change)


def test_only_what_the_core_can_judge_is_left_to_it(tmp_path):
    names = ("a.jpg", "b.jpg", "cmyk.jpg", "noise.png", "plain.png")
    plain = io.BytesIO()
    PIL.Image.new("RGB", (100, 80)).save(plain, "PNG")  # is deflated: large, and all black
    files = (
        FILES[0],
        FILES[3],
        image_file(5, (20, 20), mode="CMYK"),
        image_file(0, (40, 50), format="PNG"),
        plain.getvalue(),
    )
    items = [PackItem(name, data) for name, data in zip(names, files, strict=True)]
    pack(ListSource(items), tmp_path / "a.pen")
    file, all_samples = PackFile(tmp_path / "a.pen"), np.arange(5)
    assert find_sound(file, all_samples, Depth.BYTES).all()
    for depth in (Depth.IMAGES, Depth.ORIGINALS):
        assert find_sound(file, all_samples, depth).tolist() == [True, True, False, True, False]
    for how in ({}, {"deep": True}, {"originals": True}):
        assert verify(tmp_path / "a.pen", **how).problems == ()
        report = verify(tmp_path / "a.pen", limits=Limits(pixels=2500), **how)
        assert len(report.problems) == (2 if how else 0)
        assert (report.deep, report.originals) == (bool(how), "originals" in how)
