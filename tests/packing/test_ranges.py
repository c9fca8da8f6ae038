"""A reader that has only the index finds the bytes that it needs, and can check each of them."""

import io
import zlib
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from corpus.photos import photo
from packing.samples import ListSource, image_file
from penstock import Loader, PackError, pack, verify
from penstock import transforms as T
from penstock.loading import core_runner
from penstock.loading.core_runner import decode_rgb
from penstock.loading.fetch import RecordFetch
from penstock.packing import parts, ranges
from penstock.packing.items import LABEL, PackItem
from penstock.packing.pack_index import SUFFIX_BYTES, PackIndex, index_range
from penstock.packing.ranges import (
    block_ranges,
    blocks_of,
    check_heads,
    part_ranges,
    places_of,
    record_ranges,
)
from penstock.packing.read import PackFile

RARE = Path(__file__).parents[1] / "data" / "rare_jpegs"
OLD = Path(__file__).parents[1] / "data" / "format_1" / "old.pen"
SLACK = 64  # bytes behind a record that a decoder may load
SIDES = ((1, 1), (1, 300), (300, 1), (33, 70), (64, 64), (128, 90), (192, 128), (517, 40))
KINDS = {  # file, mode, options
    "444": ("JPEG", "RGB", {"subsampling": 0}),
    "422": ("JPEG", "RGB", {"subsampling": 1}),
    "420": ("JPEG", "RGB", {"subsampling": 2}),
    "progressive": ("JPEG", "RGB", {"progressive": True}),
    "gray": ("JPEG", "L", {}),
    "kept": ("JPEG", "CMYK", {}),
    "noise": ("PNG", "RGB", {}),
}


def images():
    """Every storage in many sizes, some of them odd."""
    for number, size in enumerate(SIDES):
        for kind, (format, mode, options) in KINDS.items():
            yield (
                f"{kind}-{number}.{format.lower()}",
                image_file(number, size, format, mode, **options),
            )
    for size in ((5000, 1), (1, 5000), (9, 65_535)):
        for kind in ("420", "noise"):
            format, mode, options = KINDS[kind]
            width = min(size[1], 65_500) if format == "JPEG" else size[1]  # libjpeg's limit
            data = image_file(0, (size[0], width), format, mode, **options)
            yield f"{kind}-{size[0]}.{format.lower()}", data
    for path in sorted(RARE.glob("*.jpg")):
        yield path.name, path.read_bytes()
    for number, subsampling in enumerate(("4:2:0", "4:4:4")):
        file = io.BytesIO()
        photo(number, 700, 500).save(file, "JPEG", quality=85, subsampling=subsampling)
        yield f"photo-{number}.jpg", file.getvalue()
    file = io.BytesIO()
    PIL.Image.new("RGB", (100, 80), (1, 2, 3)).save(file, "PNG")
    yield "flat.png", file.getvalue()  # compresses, so that it is a zlib stream


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A file of all these, in many small blocks."""
    path = tmp_path_factory.mktemp("ranges") / "all.pen"
    items = [PackItem(name, data, {"label": 0}) for name, data in images()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "BLOCK_BYTES", 1 << 16)
        pack(ListSource(items, (LABEL,)), path, progress=False)
    return path


@pytest.fixture(scope="module")
def index(packed):
    """Its index alone, as it comes from elsewhere."""
    data = packed.read_bytes()
    suffix = data[-4096:]
    begin, end = index_range(len(data), suffix, str(packed))
    return PackIndex.from_bytes(data[begin:end] + suffix, len(data), str(packed))


def every_crop(index, seed):
    """Random rows of every sample."""
    rng = np.random.default_rng(seed)
    samples = np.arange(len(index))
    height = index.facts("height").astype(np.int64)
    edges = np.sort(rng.integers(0, height[:, None] + 1, (len(samples), 2)), axis=1)
    top = np.minimum(edges[:, 0], height - 1)
    return samples, top, np.maximum(edges[:, 1], top + 1)


def test_verify_finds_all_storages_in_order(packed, index):
    assert verify(packed, deep=True).problems == ()
    storages = {
        (int(s), bool(f)) for s, f in zip(index.facts("storage"), index.facts("flags"), strict=True)
    }
    assert storages == {(0, False), (1, False), (2, False), (2, True)}


def test_the_index_takes_two_requests(packed):
    data = packed.read_bytes()
    whole = PackFile(packed)
    first = data[-SUFFIX_BYTES:]
    begin, end = index_range(len(data), first, "a")
    assert (begin, end) == (min(whole.tail.records_end, len(data) - SUFFIX_BYTES),) * 2 or (
        begin == whole.tail.records_end and end == len(data) - SUFFIX_BYTES
    )
    small = data[-64:]
    begin, end = index_range(len(data), small, "a")
    assert (begin, end) == (whole.tail.records_end, len(data) - 64)
    opened = PackIndex.from_bytes(data[begin:], len(data), "a")
    assert [opened.name(i) for i in range(len(opened))] == [
        whole.name(i) for i in range(len(whole))
    ]
    assert opened.file_id == whole.file_id
    with pytest.raises(PackError, match="Give all bytes that index_range asks for"):
        PackIndex.from_bytes(data[begin + 64 :], len(data), "a")
    with pytest.raises(PackError, match="was asked for"):
        opened.stored(64, 64)


def test_a_damaged_index_is_not_opened(packed):
    data = bytearray(packed.read_bytes())
    begin = PackFile(packed).tail.records_end
    for place in range(begin, len(data), 997):
        changed = data[begin:]
        changed[place - begin] ^= 1 << place % 8
        if data[place] == 0 and place % 64:  # may be padding, which verify looks at
            continue
        with pytest.raises(PackError):
            PackIndex.from_bytes(bytes(changed), len(data), "a")


def test_parts_hold_the_record_and_nothing_else(packed, index):
    """Without a region that leaves something out, all bytes are there once, but the rest."""
    data = packed.read_bytes()
    samples = np.arange(len(index))
    whole = record_ranges(index, samples)
    found = part_ranges(index, samples, np.zeros_like(samples), index.facts("height").astype(int))
    for sample, offset, size, crc in zip(
        whole.position, whole.offset, whole.size, whole.crc, strict=True
    ):
        assert zlib.crc32(data[offset : offset + size]) == crc
        mine = found.position == sample
        begins, sizes = found.offset[mine], found.size[mine]
        np.testing.assert_array_equal(begins[1:], (begins + sizes)[:-1])
        assert begins[0] == offset
        left = offset + size - (begins[-1] + sizes[-1])
        assert left == 0 or (index.facts("storage")[sample] == 1 and left >= 64)


@pytest.mark.parametrize("seed", range(5))
def test_each_range_has_its_checksum(packed, index, seed):
    data = packed.read_bytes()
    found = part_ranges(index, *every_crop(index, seed))
    for offset, size, crc in zip(found.offset, found.size, found.crc, strict=True):
        part = bytearray(data[offset : offset + size])
        assert zlib.crc32(part) == crc
        part[seed * 7919 % size] ^= 1 << seed
        assert zlib.crc32(part) != crc


def test_fewer_rows_are_fewer_bytes(index):
    name = [index.name(i) for i in range(len(index))].index("photo-1.jpg")
    sample = np.array([name])
    few = part_ranges(index, sample, np.array([320]), np.array([352]))
    assert len(few) == 2  # the head, and the one row of tiles: no subsampling, so nothing around it
    many = part_ranges(index, sample, np.array([319]), np.array([353]))
    assert len(many) == 4
    subsampled = sample - 1
    assert len(part_ranges(index, subsampled, np.array([320]), np.array([352]))) == 4
    assert len(part_ranges(index, subsampled, np.array([321]), np.array([351]), scale=1)) == 2
    assert few.size.sum() < 0.15 * record_ranges(index, sample).size.sum()


class PlannedFetch(RecordFetch):
    """Reads nothing but the ranges that the index plans; all else is garbage."""

    scale = 8

    def open(self, part, found):
        (file,) = self._source.packed.files
        places = places_of(file, part.samples)
        rng = np.random.default_rng(int(part.samples.sum()))
        records = [rng.integers(0, 256, size + SLACK, np.uint8) for size in places.size]
        engine_part = self._engine.open_mapped(
            part.rank,
            records,
            np.array([record.ctypes.data for record in records], np.int64),
            found.sizes,
            found.storages,
            found.heights,
            found.widths,
        )
        self._begun = getattr(self, "_begun", {}) | {id(engine_part): (part.samples, records)}
        return engine_part

    def read(self, engine_part, positions, needed):
        (file,) = self._source.packed.files
        samples, records = self._begun[id(engine_part)]
        places = places_of(file, samples)
        rows = samples[positions], needed.top, needed.bottom
        found = part_ranges(file, *rows, scale=self.scale)
        for row, offset, size, crc in zip(
            found.position, found.offset, found.size, found.crc, strict=True
        ):
            position = positions[row]
            piece = file.stored(int(offset), int(size))
            assert zlib.crc32(piece) == crc
            begin = offset - places.offset[position]
            records[position][begin : begin + size] = piece
        check_heads(file, rows[0], [records[position][:-SLACK] for position in positions])
        super().read(engine_part, positions, needed)


class FullSizeFetch(PlannedFetch):
    """The same without the rows that only reduced sizes look at."""

    scale = 1


def decode_whole_records(source, sample, limit):
    """Pillow gets what the core does not decode; not what it cannot, or faults would be hidden."""
    (file,) = source.packed.files
    assert int(file.facts("part_rows")[sample]) == 0, file.name(sample)
    return decode_rgb(source, sample, limit)


PIPELINES = {
    # Crops that begin and end with a row of tiles depend on rows around them, if any do.
    "tiles": T.CenterCrop((64, 50)),
    "small tiles": T.Compose([T.CenterCrop((64, 64)), T.Resize((7, 7))]),
    "crop": T.RandomResizedCrop(24, scale=(0.01, 0.3)),
    "small crop": T.Compose([T.RandomCrop(9, pad_if_needed=True), T.RandomHorizontalFlip()]),
    "augmented": T.Compose([T.RandomResizedCrop(32, scale=(0.02, 0.5)), T.RandAugment()]),
    "warped": T.Compose([T.RandomAffine(30), T.CenterCrop(11)]),
    "contrast": T.Compose([T.ColorJitter(contrast=0.5), T.RandomResizedCrop(16)]),
    "views": T.MultiView(
        [
            *[T.RandomResizedCrop(32, scale=(0.3, 1))] * 2,
            *[T.RandomResizedCrop(16, scale=(0.01, 0.2))] * 2,
        ]
    ),
}


def batches(path, transform, fidelity):
    loader = Loader(
        path, transform=transform, batch_size=8, seed=5, threads=2, output="numpy",
        targets="none", fidelity=fidelity, shuffle=True,
    )  # fmt: skip
    for images in loader:
        yield images if isinstance(images, list | tuple) else [images]


@pytest.mark.parametrize("fidelity", ["exact", "fast"])
@pytest.mark.parametrize("name", PIPELINES)
def test_pixels_need_only_the_planned_parts(packed, monkeypatch, name, fidelity):
    """The core decodes records whose other bytes are garbage to the very same batches."""
    expected = list(batches(packed, PIPELINES[name], fidelity))
    fetch = FullSizeFetch if fidelity == "exact" else PlannedFetch
    monkeypatch.setattr(core_runner, "fetch_for", lambda engine, source, _: fetch(engine, source))
    monkeypatch.setattr(core_runner, "decode_rgb", decode_whole_records)
    found = list(batches(packed, PIPELINES[name], fidelity))
    assert len(found) == len(expected) > 5
    for batch, other in zip(found, expected, strict=True):
        for view, other_view in zip(batch, other, strict=True):
            np.testing.assert_array_equal(view, other_view, strict=True)


def test_blocks_hold_their_samples(packed, index):
    data = packed.read_bytes()
    samples = np.arange(len(index))
    numbers = blocks_of(index, samples)
    assert numbers[-1] == len(index.blocks["first"]) - 1 > 3
    blocks = block_ranges(index, np.unique(numbers))
    assert blocks.first[0] == 0
    assert blocks.offset[0] == 64
    np.testing.assert_array_equal(blocks.stop[:-1], blocks.first[1:])
    np.testing.assert_array_equal((blocks.offset + blocks.size)[:-1], blocks.offset[1:])
    assert blocks.offset[-1] + blocks.size[-1] == index.tail.records_end
    for first, stop, offset, size, crc in zip(
        blocks.first, blocks.stop, blocks.offset, blocks.size, blocks.crc, strict=True
    ):
        assert zlib.crc32(data[offset : offset + size]) == crc
        assert stop - first == 1 or size <= 1 << 16
        assert (numbers[first:stop] == numbers[first]).all()
        # The next record would not have fitted.
        if stop < len(index):
            following = -(-int(index.facts("size")[stop]) // 64) * 64
            assert size + following > 1 << 16


def test_other_arguments_are_errors(index):
    one = np.array([0])
    for top, bottom in ((-1, 1), (0, 0), (0, 2), (1, 2)):
        with pytest.raises(IndexError, match=r"rows .* of sample 0, which has 1"):
            part_ranges(index, one, np.array([top]), np.array([bottom]))
    for look in (record_ranges, blocks_of):
        with pytest.raises(IndexError, match="of"):
            look(index, np.array([len(index)]))
        assert len(look(index, np.array([], dtype=np.int64))) == 0
    empty = np.array([], dtype=np.int64)
    assert len(part_ranges(index, empty, empty, empty)) == 0


def test_records_of_any_size_have_parts(tmp_path, monkeypatch):
    """A part's bytes have 32 bits, so what cannot be cut by rows is cut anyhow."""
    for module in (parts, ranges):
        monkeypatch.setattr(module, "WHOLE_PART_BYTES", 100)
    data = image_file(1, (30, 20), mode="CMYK")
    pack(ListSource([PackItem("kept.jpg", data)]), tmp_path / "a.pen", progress=False)
    file = PackFile(tmp_path / "a.pen")
    assert verify(file.path).problems == ()
    found = part_ranges(file, np.array([0]), np.array([3]), np.array([4]))
    assert found.size.tolist() == [100] * (len(data) // 100) + [len(data) % 100]
    joined = b"".join(
        data[o - 64 : o - 64 + s] for o, s in zip(found.offset, found.size, strict=True)
    )
    assert joined == data


def test_rows_that_no_part_can_hold_are_refused():
    class Long(bytes):
        def __len__(self):
            return 3 * (2**31 - 1)

    with pytest.raises(PackError, match=r"rows of 2,147,483,647 pixels are more than"):
        parts.layout_of(Long(), "raw", 0, 1, 2**31 - 1)


def test_version_1_has_whole_records_only():
    file = PackFile(OLD)
    samples = np.arange(len(file))
    height = file.facts("height").astype(np.int64)
    found = part_ranges(file, samples, height // 2, height)
    np.testing.assert_array_equal(found.size, file.facts("size"))
    for offset, size, crc in zip(found.offset, found.size, found.crc, strict=True):
        assert zlib.crc32(file.stored(int(offset), int(size))) == crc
    with pytest.raises(PackError, match="format 1 has no blocks"):
        blocks_of(file, samples)
