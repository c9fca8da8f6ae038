"""`verify`: every byte of a packed data set against its checksum, and every image on request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import Any

import numpy as np

from penstock._core import checksum
from penstock.errors import DecodeError, PackError
from penstock.geometry import Ints, Size
from penstock.limits import Limits, obeying_limits
from penstock.packing.columns import VariableColumn
from penstock.packing.format import HEADER_BYTES, STORAGES, TAIL_BYTES, Entry, aligned
from penstock.packing.items import MASKS
from penstock.packing.mask_runs import are_runs, check_runs, read_header
from penstock.packing.ordered_map import map_in_order
from penstock.packing.parts import Layout
from penstock.packing.ranges import block_ranges, check_parts, compare_head
from penstock.packing.read import PackFile
from penstock.packing.records import check_image, check_original
from penstock.packing.shards import open_packed
from penstock.packing.sound import CHUNK_SAMPLES, Depth, find_sound
from penstock.progress import ProgressBar
from penstock.sources import read_label_map
from penstock.usable_cores import usable_cores

MOST_PROBLEMS = 1000  # a file with more of them is not worth a longer list
_CHUNK_SAMPLES = 1 << 16


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was looked at, and everything that was wrong."""

    path: str
    samples: int
    bytes: int
    deep: bool  # whether images were decoded too
    originals: bool  # whether original files were rebuilt, too
    problems: tuple[str, ...]

    @classmethod
    def of(
        cls, path: str, samples: int, size: int, depth: Depth, problems: tuple[str, ...]
    ) -> VerifyReport:
        """Return the report of a data set that was looked at so closely."""
        images, originals = depth >= Depth.IMAGES, depth == Depth.ORIGINALS
        return cls(path, samples, size, images, originals, problems)

    @property
    def intact(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return asdict(self) | {"intact": self.intact}


@obeying_limits
def verify(
    packed: str | os.PathLike[str],
    *,
    deep: bool = False,
    originals: bool = False,
    threads: int | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
    progress: bool | None = None,
) -> VerifyReport:
    """Check a packed file or folder: finds any flipped bit, any cut, any false offset.

    With `deep`, every image and its masks are decoded too; those larger than `limits` allow count
    as problems. With `originals`, all of this is done, and every file that `unpack` would give back
    byte for byte is rebuilt and compared with the original's checksum.
    """
    path = os.fspath(packed)
    depth = Depth.ORIGINALS if originals else Depth.IMAGES if deep else Depth.BYTES
    try:
        data = open_packed(path)
    except PackError as error:
        if not os.path.exists(path):
            raise
        return VerifyReport.of(path, 0, 0, depth, (str(error),))
    with ProgressBar("verifying", total=len(data), unit="images", show=progress) as bar:
        problems = (
            f"{file.path}: {problem}"
            for file in data.files
            for problem in _problems(file, bar, depth, threads or usable_cores())
        )
        first = tuple(islice(problems, MOST_PROBLEMS))
    return VerifyReport.of(path, len(data), data.file_bytes, depth, first)


def _problems(file: PackFile, bar: ProgressBar, depth: Depth, threads: int) -> Iterator[str]:
    """What is wrong with a file; nothing else if it changed while it was looked at."""
    for problem in _damage(file, bar, depth, threads):
        if change := _change(file):
            yield change
            return
        yield problem
    if change := _change(file):
        yield change


def _change(file: PackFile) -> str | None:
    try:
        file.check_unchanged()
    except PackError as error:
        return str(error).removeprefix(f"{file.path}: ")
    return None


def _damage(file: PackFile, bar: ProgressBar, depth: Depth, threads: int) -> Iterator[str]:
    whole = True
    for entry in file.entries:
        for problem in _column_problems(file, entry):
            whole = False
            yield problem
    directory_end = file.tail.directory_offset + file.tail.directory_bytes
    if not _is_zero(file, directory_end, file.file_bytes - TAIL_BYTES):
        yield "the padding after the directory is not zero."
    if not whole:
        return  # offsets and checksums of records cannot be relied on
    if not _records_follow_one_another(file):
        yield "the records do not follow one another."
        return
    if false_index := _false_blocks(file) or _false_parts(file):
        yield false_index
        return
    yield from _damaged_bytes(file, bar, depth, threads)


def _damaged_bytes(file: PackFile, bar: ProgressBar, depth: Depth, threads: int) -> Iterator[str]:
    """Look at every block, and at every sample."""
    blocks = len(file.blocks["first"]) if file.version > 1 else 0

    def look(job: tuple[int, int]) -> tuple[int, list[str]]:
        start, stop = job
        if stop <= blocks:
            return 0, _damaged_blocks(file, start)
        samples = np.arange(start - blocks, stop - blocks)
        return len(samples), list(_sample_problems(file, samples, depth))

    each_block = ((number, number + 1) for number in range(blocks))
    end = blocks + len(file)
    chunks = (
        (start, min(start + CHUNK_SAMPLES, end)) for start in range(blocks, end, CHUNK_SAMPLES)
    )
    for seen, found in map_in_order(look, chain(each_block, chunks), threads):
        bar.advance(seen)
        yield from found


def _column_problems(file: PackFile, entry: Entry) -> Iterator[str]:
    name = f"column {entry.column.name!r}"
    if not file.has_checksums(entry):
        yield f"{name} is damaged: its checksum does not match."
    for offset, size in (entry.offset, entry.size), (entry.values_offset, entry.values_bytes):
        if not _is_zero(file, offset + size, aligned(offset + size)):
            yield f"{name}: the padding after it is not zero."
    readers = (file.system, file.columns, file.tables, file.blocks)
    reader = readers[entry.role][entry.column.name]
    if isinstance(reader, VariableColumn) and not reader.offsets_rise():
        yield f"{name}: its offsets do not rise from 0 to the end."


def _sample_problems(file: PackFile, samples: Ints, depth: Depth) -> Iterator[str]:
    sound = find_sound(file, samples, depth)
    has_masks = depth >= Depth.IMAGES and MASKS.name in file.columns
    for index, is_sound in zip(samples.tolist(), sound.tolist(), strict=True):
        if is_sound and not has_masks:
            continue
        try:
            if not is_sound:
                _check_sample(file, index, depth)
            if has_masks:
                _check_masks(file, index)
        except PackError as error:
            yield str(error).removeprefix(f"{file.path}: ")


def _check_sample(file: PackFile, index: int, depth: Depth) -> None:
    """Raise PackError if anything but its masks is wrong with a sample, and say what."""
    sample = file.sample(index)
    end = sample.offset + sample.size
    if not _is_zero(file, end, aligned(end)):
        raise PackError(f"sample {index:,} ({sample.name}): the padding after it is not zero.")
    if depth == Depth.IMAGES:
        check_image(file, index)
    elif depth == Depth.ORIGINALS:
        check_original(file, index)
    _check_parts(file, index, file.record(index))


def _check_parts(file: PackFile, index: int, record: bytes) -> None:
    if file.version == 1:
        return
    parts = file.system["parts"][index]
    if file.facts("storage")[index] == STORAGES.index("dct"):
        rows, around = (int(file.facts(name)[index]) for name in ("part_rows", "rows_around"))
        compare_head(file, index, record, Layout(tuple(parts[:, 0].tolist()), rows, around))
    place = 0
    for number, (size, crc) in enumerate(parts.tolist()):
        if checksum(memoryview(record)[place : place + size]) != crc:
            raise PackError(
                f"sample {index:,} ({file.name(index)}): the checksum of its part {number:,} does "
                "not match."
            )
        place += size


def _false_parts(file: PackFile) -> str | None:
    """Whether all records have the parts that they must have, whatever is in them."""
    for start in range(0, len(file), _CHUNK_SAMPLES):
        try:
            check_parts(file, np.arange(start, min(start + _CHUNK_SAMPLES, len(file))))
        except PackError as error:
            return str(error).removeprefix(f"{file.path}: ")
    return None


def _false_blocks(file: PackFile) -> str | None:
    """Whether blocks hold all records, one after the other, whatever is in them."""
    if file.version == 1:
        return None
    count, sample, place = len(file.blocks["first"]), 0, HEADER_BYTES
    for start in range(0, count, _CHUNK_SAMPLES):
        try:
            blocks = block_ranges(file, np.arange(start, min(start + _CHUNK_SAMPLES, count)))
        except PackError as error:
            return str(error).removeprefix(f"{file.path}: ")
        ends = blocks.offset + blocks.size
        follows = (int(blocks.first[0]), int(blocks.offset[0])) == (sample, place)
        follows &= np.array_equal(blocks.offset[1:], ends[:-1])
        follows &= np.array_equal(file.facts("offset")[blocks.first], blocks.offset.astype("<u8"))
        if not follows:
            return "the blocks do not follow one another, record by record."
        sample, place = int(blocks.stop[-1]), int(ends[-1])
    if place != file.tail.records_end:
        return f"the blocks end at byte {place:,}, the records at {file.tail.records_end:,}."
    return None


def _damaged_blocks(file: PackFile, block: int) -> list[str]:
    found = block_ranges(file, np.array([block]))
    if file.crc_of(int(found.offset[0]), int(found.size[0])) != int(found.crc[0]):
        return [f"block {block:,} is damaged: its checksum does not match."]
    return []


def _check_masks(file: PackFile, index: int) -> None:
    reader = file.columns.get(MASKS.name)
    if reader is None or reader.column.kind != "bytes":
        return
    masks = reader[index]
    if not masks:
        return
    height, width = (int(file.facts(name)[index]) for name in ("height", "width"))
    try:
        if are_runs(masks):
            check_runs(masks)  # not drawn: thousands of them may be in a few bytes
            found = read_header(masks)[1]
        else:
            found = Size(*read_label_map(masks).shape)
    except DecodeError as error:
        raise PackError(f"sample {index:,} ({file.name(index)}): {error}.") from error
    # In the PNGs of earlier files, the masks of objects are stacked vertically.
    if found.width != width or height < 1 or found.height % height:
        raise PackError(
            f"sample {index:,} ({file.name(index)}): masks of {found.height}x{found.width} "
            f"for an image of {height}x{width}."
        )


def _records_follow_one_another(file: PackFile) -> bool:
    place = HEADER_BYTES
    for start in range(0, len(file), _CHUNK_SAMPLES):
        part = slice(start, start + _CHUNK_SAMPLES)
        offsets, sizes = file.facts("offset")[part], file.facts("size")[part]
        if int(sizes.max()) > file.file_bytes:  # so that the sums below cannot overflow
            return False
        ends = place + np.cumsum(-(-sizes.astype(np.int64) // 64) * 64)
        if int(offsets[0]) != place or not np.array_equal(offsets[1:], ends[:-1].astype("<u8")):
            return False
        place = int(ends[-1])
    return place == file.tail.records_end


def _is_zero(file: PackFile, start: int, end: int) -> bool:
    return not file.stored(start, end - start).any()
