"""Parts and blocks that lie are errors before anything is read by them, and verify finds them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packing.false_index import forge
from packing.samples import ListSource, image_file
from penstock import PackError, pack, verify
from penstock.packing import parts
from penstock.packing.format import BLOCK, SYSTEM
from penstock.packing.items import PackItem
from penstock.packing.ranges import block_ranges, blocks_of, check_heads, part_ranges, record_ranges
from penstock.packing.read import PackFile

EDGES = [0, 1, 64, 2**31, 2**32, 2**63, 2**64 - 1]
far = st.builds(
    lambda edge, distance: (edge + distance) % 2**64,
    st.sampled_from(EDGES),
    st.integers(-200, 200),
)
MANY = settings(max_examples=100, deadline=None)
TILES, PIXELS, STREAM, KEPT = range(4)


def make(path):
    """One sample of every storage; the second is too large for a block with others."""
    images = [
        ("a.jpg", image_file(1, (100, 60))),
        ("b.png", image_file(2, (300, 90), "PNG")),
        ("c.png", image_file(3, (100, 60), "PNG", "1")),
        ("d.jpg", image_file(4, (60, 40), "JPEG", "CMYK")),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "BLOCK_BYTES", 1 << 16)
        pack(ListSource([PackItem(*image) for image in images]), path, progress=False)


@pytest.fixture
def packed(tmp_path):
    make(tmp_path / "false.pen")
    return tmp_path / "false.pen"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("false") / "false.pen"
    make(path)
    return path


def in_memory(path, readers, name, attribute, place, *numbers):
    """Open a file whose column says something else; only in memory."""
    file = PackFile(path)
    reader = getattr(file, readers)[name]
    forged = getattr(reader, attribute).copy()
    if attribute == "_values":
        forged.view("<u4")[place : place + len(numbers)] = np.array(numbers, "<u8").astype("<u4")
    else:
        forged[place : place + len(numbers)] = np.array(numbers, "<u8").astype(forged.dtype)
    setattr(reader, attribute, forged)
    return file


def check_plans(file):
    """Every plan is an error that names the file, or keeps to the records."""
    samples = np.arange(len(file))
    height = file.facts("height").astype(np.int64)
    for sample in samples:
        one, rows = samples[sample : sample + 1], height[sample : sample + 1]
        try:
            whole = record_ranges(file, one)
            found = part_ranges(file, one, rows // 3, np.minimum(rows // 3 + 9, rows))
            inside = (found.offset >= whole.offset) & (found.size >= 0)
            assert (inside & (found.offset + found.size <= whole.offset + whole.size)).all()
            block = block_ranges(file, blocks_of(file, one))
            assert block.first[0] <= sample < block.stop[0]
            assert block.offset[0] <= whole.offset[0]
            assert whole.offset[0] + whole.size[0] <= block.offset[0] + block.size[0]
            assert block.offset[0] + block.size[0] <= file.tail.records_end
        except PackError as error:
            assert "false.pen" in str(error)


@given(st.integers(0, 3), far, far)
@MANY
def test_offsets_of_parts(kept, sample, start, end):
    check_plans(in_memory(kept, "system", "parts", "_offsets", sample, start, end))


@given(st.integers(0, 40), far)
@MANY
def test_bytes_of_parts(kept, place, number):
    check_plans(in_memory(kept, "system", "parts", "_values", place, number))


@given(
    st.sampled_from(["part_rows", "rows_around", "height", "width", "storage", "size", "offset"]),
    st.integers(0, 3),
    far,
)
@MANY
def test_facts_of_records(kept, name, sample, number):
    file = in_memory(kept, "system", name, "values", sample, number)
    if 1 <= int(file.facts("height")[sample]) < 2**31:
        check_plans(file)


@given(st.sampled_from(["first", "offset", "size"]), st.integers(0, 2), far)
@MANY
def test_numbers_of_blocks(kept, name, block, number):
    check_plans(in_memory(kept, "blocks", name, "values", block, number))


def test_nothing_forged(packed):
    check_plans(PackFile(packed))
    file = PackFile(packed)
    assert file.blocks["first"].values.tolist() == [0, 1, 2]
    counts = [len(file.system["parts"][sample]) for sample in range(4)]
    # 100 rows of tiles of 32; 300 rows of 270 bytes, of which 121 fit into 32,768; a stream; a file
    assert counts == [4 + 2, 3, 1, 1]
    assert file.facts("part_rows").tolist() == [32, 121, 0, 0]


def move_bytes(values):
    """From one row of tiles to the next: the sum stays."""
    values[1, 0] -= 1
    values[2, 0] += 1


@pytest.mark.parametrize(
    ("role", "name", "change", "told"),
    [
        (SYSTEM, "parts", move_bytes, "sample 0 (a.jpg) is not cut into parts as the index says"),
        (SYSTEM, "part_rows", lambda v: v.__setitem__(TILES, 31), "sample 0 (a.jpg) is not cut"),
        (SYSTEM, "rows_around", lambda v: v.__setitem__(TILES, 0), "sample 0 (a.jpg) is not cut"),
        (SYSTEM, "part_rows", lambda v: v.__setitem__(PIXELS, 99), "sample 1 (b.png): its parts"),
        (SYSTEM, "part_rows", lambda v: v.__setitem__(STREAM, 1), "sample 2 (c.png): its parts"),
        (SYSTEM, "rows_around", lambda v: v.__setitem__(KEPT, 1), "sample 3 (d.jpg): its parts"),
        (SYSTEM, "parts", lambda v: v[:, 1].__setitem__(3, 7),
         "sample 0 (a.jpg): the checksum of its part 3 does not match"),
        (SYSTEM, "parts", lambda v: v[:, 1].__setitem__(-1, 7),
         "sample 3 (d.jpg): the checksum of its part 0 does not match"),
        (BLOCK, "crc", lambda v: v.__setitem__(1, 7), "block 1 is damaged: its checksum"),
        (BLOCK, "size", lambda v: v.__setitem__(2, v[2] - 64), "the blocks end at byte"),
        (BLOCK, "size", lambda v: v.__setitem__(0, v[0] - 64), "the blocks do not follow"),
        (BLOCK, "offset", lambda v: v.__setitem__(0, 128), "the blocks do not follow"),
        (BLOCK, "first", lambda v: v.__setitem__(2, 3), "the blocks do not follow"),
        (BLOCK, "first", lambda v: v.__setitem__(1, 0), "block 0 is damaged"),
    ],
)  # fmt: skip
def test_verify_finds_what_does_not_agree(packed, role, name, change, told):
    assert verify(packed).problems == ()
    forge(packed, role, name, change)
    for deep, originals in ((False, False), (True, False), (False, True)):
        found = verify(packed, deep=deep, originals=originals).problems
        assert any(told in problem for problem in found), told


def test_a_head_that_disagrees_is_found_before_it_is_used(packed):
    forge(packed, SYSTEM, "parts", move_bytes)
    file = PackFile(packed)
    samples = np.array([0])
    ranges = part_ranges(file, samples, np.array([0]), np.array([9]))
    record = np.zeros(int(file.facts("size")[0]), np.uint8)
    for offset, size in zip(ranges.offset.tolist(), ranges.size.tolist(), strict=True):
        begin = offset - int(file.facts("offset")[0])
        record[begin : begin + size] = file.stored(offset, size)
    with pytest.raises(PackError, match="not cut into parts as the index says"):
        check_heads(file, samples, [record])


def test_only_a_single_record_may_make_a_large_block(packed, monkeypatch):
    """Or a reader with room for a few blocks would be asked for any amount of memory."""
    file = PackFile(packed)
    monkeypatch.setattr("penstock.packing.ranges.BLOCK_BYTES", 1 << 10)
    assert block_ranges(file, np.array([1])).size[0] > 1 << 16
    with pytest.raises(PackError, match="block 2 is damaged"):
        block_ranges(file, np.array([1, 2]))
