"""Numbers of an index at the ends of what 32 and 64 bits can count: an error, never another place.

Sums of such numbers wrap around in NumPy and in C++. A file is forged with right checksums, as
fuzz/packed_file.py does it at random.
"""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packing.samples import ListSource, image_file, mixed_source
from penstock.data.masks import StoredMasks, open_masks
from penstock.data.packed import PackedSource
from penstock.data.targets import StoredTargets
from penstock.errors import DecodeError, PackError
from penstock.limits import Limits
from penstock.packing.items import BOXES, Column, PackItem
from penstock.packing.mask_runs import decode_runs, read_header
from penstock.packing.pack import pack
from penstock.packing.read import PackFile
from penstock.packing.records import decode_pixels
from penstock.packing.shards import open_packed

EDGES = [0, 1, 64, 2**31, 2**32, 2**63, 2**64 - 1]
far = st.builds(
    lambda edge, distance: (edge + distance) % 2**64,
    st.sampled_from(EDGES),
    st.integers(-200, 200),
)
MANY = settings(max_examples=100, deadline=None)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    path = tmp_path_factory.mktemp("far") / "far.pen"
    pack(mixed_source(4), path)
    return path


def forge(path, column, index, *numbers):
    """Open a file whose column says something else; only in memory, so checksums do not matter."""
    data = open_packed(path)
    file = data.files[0]
    reader = {**file.system, **file.columns}[column]
    name = "values" if hasattr(reader, "values") else "_offsets"
    forged = getattr(reader, name).copy()
    forged[index : index + len(numbers)] = np.array(numbers, "<u8").astype(forged.dtype)
    setattr(reader, name, forged)
    return data


@given(far, far)
@MANY
def test_a_record_is_looked_up_inside_the_file_or_not_at_all(packed, offset, size):
    data = forge(packed, "offset", 1, offset)
    file = data.files[0]
    sizes = file.system["size"].values.copy()
    sizes[1] = size
    file.system["size"].values = sizes
    begin = file.stored(0, 1).ctypes.data
    try:
        records = PackedSource(data).records(np.arange(4))
    except PackError as error:
        assert "far.pen" in str(error)
        return
    places = [int(number) - begin for number in records.addresses]
    assert places[1] == offset
    assert 64 <= offset <= offset + size <= file.tail.records_end


def test_a_sum_that_wraps_around_is_refused(packed):
    """The file that read 96,227 bytes from behind its map."""
    data = forge(packed, "offset", 0, 2**63 - 64)
    data.files[0].system["size"].values = np.array([2**63 - 64] * 4, "<u8")
    with pytest.raises(PackError, match="records end at"):
        PackedSource(data).records(np.arange(4))


@given(far, far)
@MANY
def test_rows_lie_inside_their_column_or_are_refused(packed, start, end):
    data = forge(packed, "boxes", 2, start, end)
    reader = data.files[0].columns["boxes"]
    there = len(reader._values) // 16
    for look in (lambda: reader.rows(np.array([2])), lambda: reader[2]):
        try:
            look()
        except PackError as error:
            assert "far.pen" in str(error)
        else:
            assert start <= end <= there


@given(far, far)
@MANY
def test_texts_and_masks_lie_inside_their_column_or_are_refused(packed, start, end):
    for column in ("masks", "remark", "name"):
        data = forge(packed, column, 1, start, end)
        reader = {**data.files[0].system, **data.files[0].columns}[column]
        try:
            reader[1]
        except PackError as error:
            assert "far.pen" in str(error)
        else:
            assert start <= end <= len(reader._values)


@given(far, far)
@MANY
def test_sizes_of_pixels_are_compared_before_anything_is_inflated(height, width):
    height, width = height % 2**31, width % 2**31
    for flags, record in ((0, bytes(12)), (1, zlib.compress(bytes(12)))):
        if height * width == 4:
            continue
        with pytest.raises(PackError, match="bytes of pixels"):
            decode_pixels(record, flags, height, width)


@given(far, far, far, far)
@MANY
def test_run_lengths_are_read_inside_their_value(count, height, width, end):
    head = struct.pack("<4sIIII", b"RUN1", *(n % 2**32 for n in (count, height, width, end)))
    try:
        found, _ = read_header(head + b"\1\2")
        assert found * 4 + 16 <= len(head) + 2
        if height % 2**32 * (width % 2**32) * found < 1 << 20:
            decode_runs(head + b"\1\2")
    except DecodeError:
        pass


@pytest.mark.parametrize("number", ["9" * 5000, "16777217", "0", "-1", "1.5", "\u0661" * 9])
def test_class_ids_of_any_length_are_refused(tmp_path, number):
    item = PackItem(
        "a.jpg", image_file(1), {"boxes": np.zeros((0, 4), np.float32), "box_labels": []}
    )
    columns = (BOXES, Column("box_labels", "ragged", "int64"))
    pack(ListSource([item], columns, None, ("one",)), tmp_path / "ids.pen")
    data = open_packed(tmp_path / "ids.pen")
    data.files[0].tables["box_class_ids"] = Texts([number])
    with pytest.raises(PackError, match="box_class_ids must be numbers from 1 on"):
        _ = StoredTargets(PackedSource(data)).box_class_ids


class Texts(list):
    """A column of texts."""

    column = Column("box_class_ids", "text")


def test_labels_of_boxes_that_are_no_rows_are_refused(tmp_path):
    columns = (BOXES, Column("box_labels", "fixed", "int64"))
    item = PackItem("a.jpg", image_file(1), {"boxes": [[0, 0, 5, 5]], "box_labels": 0})
    pack(ListSource([item], columns, None, ("one",)), tmp_path / "labels.pen")
    targets = StoredTargets(PackedSource(open_packed(tmp_path / "labels.pen")))
    with pytest.raises(PackError, match="box_labels must have any number of rows"):
        targets.of(np.arange(1))


@pytest.mark.parametrize("kind", ["text", "fixed"])
def test_masks_of_another_kind_are_no_masks(tmp_path, kind):
    column = Column("masks", kind, "int64" if kind == "fixed" else "")
    item = PackItem("a.jpg", image_file(1), {"masks": 1 if kind == "fixed" else "x"})
    pack(ListSource([item], (column,)), tmp_path / "other.pen")
    source = PackedSource(open_packed(tmp_path / "other.pen"))
    assert open_masks(source, None, 0, None, Limits()) is None


@pytest.mark.parametrize("column", ["height", "width"])
def test_masks_of_an_image_without_a_size_are_refused(packed, column):
    data = forge(packed, column, 1, 0)
    with pytest.raises(DecodeError, match="the index says that it is"):
        StoredMasks(PackedSource(data)).read(1)


def test_every_offset_is_sound_where_nothing_was_forged(packed):
    records = PackedSource(open_packed(packed)).records(np.arange(4))
    file = PackFile(packed)
    assert records.sizes.tolist() == file.facts("size").tolist()
