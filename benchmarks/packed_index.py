"""What the index of a packed file costs: `python -m benchmarks.packed_index FOLDER`.

The images of the folder are packed; the bytes of the file are divided up, the work of
cutting records into parts is timed beside that of making them, and the ranges of random crops are
planned from an index of a million samples, which are these again and again.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

import penstock
from benchmarks.table import aligned as aligned_table
from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.packing.format import BLOCK, BLOCK_COLUMNS, SYSTEM, TABLE, Header, id_of, padding
from penstock.packing.parts import layout_of
from penstock.packing.ranges import part_ranges, record_ranges
from penstock.packing.read import PackFile
from penstock.packing.records import encode_image, original_file
from penstock.planner.lower import lower
from penstock.planner.plan import as_written

SAMPLES = 1_000_000
BATCH = 256


def sizes_of(file: PackFile) -> list[tuple[str, ...]]:
    """The bytes of the file, divided up."""
    originals = int(file.facts("original_size").sum())

    def of(role: int, *names: str) -> int:
        wanted = (e for e in file.entries if e.role == role and e.column.name in names)
        return sum(entry.size + entry.values_bytes for entry in wanted)

    rows = {
        "file": file.file_bytes,
        "records": file.tail.records_end,
        "index": file.file_bytes - file.tail.records_end,
        "of it, parts": of(SYSTEM, "part_rows", "rows_around", "parts"),
        "of it, blocks": of(BLOCK, *(column.name for column in BLOCK_COLUMNS)),
    }
    return [
        (name, f"{size:,}", f"{size / len(file):,.1f}", f"{size / originals:.5f}")
        for name, size in rows.items()
    ]


def cpu_us(work: Callable[[], object], count: int, repeats: int = 7) -> float:
    """Microseconds of CPU for each of `count` things that `work` does, in the median."""
    took = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        took.append((time.process_time() - began) / count * 1e6)
    return median(took)


def cutting(file: PackFile) -> tuple[float, float, float]:
    """What making a record takes, then finding its parts, then their checksums."""
    numbers = range(min(len(file), 100))
    files = [original_file(file, number) for number in numbers]
    records = [encode_image(data) for data in files]

    def cut() -> None:
        for one in records:
            layout_of(one.data, one.storage, one.flags, one.height, one.width)

    def check() -> None:
        for one in records:
            one.layout.table(one.data)

    make = cpu_us(lambda: [encode_image(data) for data in files], len(files), 3)
    return make, cpu_us(cut, len(files)), cpu_us(check, len(files))


def repeat_samples(file: PackFile, target: Path, samples: int) -> None:
    """Write a file whose index has so many samples; its records are those of `file`."""
    times = -(-samples // len(file))
    entries, place = [], file.tail.records_end
    with target.open("wb") as out:
        out.write(file.stored(0, place).tobytes())

        def append(array: npt.NDArray[np.generic]) -> tuple[int, int, int]:
            nonlocal place
            raw, begin = array.tobytes(), place
            out.write(raw + padding(len(raw)))
            place += len(raw) + len(padding(len(raw)))
            return begin, len(raw), zlib.crc32(raw)

        for entry in file.entries:
            count = 1 if entry.role in {TABLE, BLOCK} else times
            first = file.stored(entry.offset, entry.size)
            if entry.column.kind == "fixed":
                offset, size, crc = append(np.tile(first, count))
                entries.append(
                    replace(entry, count=entry.count * count, offset=offset, size=size, crc=crc)
                )
                continue
            ends = first.view("<u8")
            more = ends[1:] + np.arange(count, dtype="<u8")[:, None] * ends[-1]
            offset, size, crc = append(np.concatenate([ends[:1], more.ravel()]))
            values = np.tile(file.stored(entry.values_offset, entry.values_bytes), count)
            values_offset, values_bytes, values_crc = append(values)
            entries.append(
                replace(
                    entry, count=entry.count * count, offset=offset, size=size, crc=crc,
                    values_offset=values_offset, values_bytes=values_bytes, values_crc=values_crc,
                )
            )  # fmt: skip
        directory = b"".join(entry.to_bytes() for entry in entries)
        tail = replace(
            file.tail, directory_offset=place, samples=len(file) * times,
            directory_crc=zlib.crc32(directory), file_id=id_of(directory),
        )  # fmt: skip
        out.write(directory + padding(len(directory)) + tail.to_bytes())
        out.seek(0)
        out.write(Header(file.flags, tail.file_id).to_bytes())


def resident_mb() -> float:
    """What this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def planning(path: Path) -> list[tuple[str, ...]]:
    """Opening a large index, and planning the crops of batches from it."""
    before = resident_mb()
    began = time.perf_counter()
    file = PackFile(path)
    opened_ms, opened_mb = (time.perf_counter() - began) * 1e3, resident_mb() - before
    rng = np.random.default_rng(0)
    crop = as_written(T.RandomResizedCrop(224)).segments[-1]
    batches = []
    for epoch in range(20):
        samples = rng.integers(0, len(file), BATCH)
        height, width = (file.facts(name)[samples].astype(np.int64) for name in ("height", "width"))
        sizes = Sizes(height, width)
        moves = crop.sample(0, epoch, samples, sizes)
        batches.append((samples, lower(moves, sizes).regions(sizes)))
    plans = [part_ranges(file, s, r.top, r.bottom, scale=1) for s, r in batches]
    read = sum(int(plan.size.sum()) for plan in plans)
    whole = sum(int(record_ranges(file, s).size.sum()) for s, _ in batches)

    def plan_all() -> None:
        for samples, regions in batches:
            part_ranges(file, samples, regions.top, regions.bottom, scale=1)

    count = len(batches) * BATCH
    return [
        ("samples", f"{len(file):,}"),
        ("index, MB", f"{(file.file_bytes - file.tail.records_end) / 1e6:,.1f}"),
        ("to open it, ms", f"{opened_ms:.1f}"),
        ("memory that this takes, MB", f"{opened_mb:.1f}"),
        ("to plan a crop, µs", f"{cpu_us(plan_all, count):.2f}"),
        ("ranges for a crop", f"{sum(map(len, plans)) / count:.1f}"),
        ("bytes of them / bytes of the records", f"{read / whole:.3f}"),
    ]


def main() -> None:
    """Print it all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="a folder of images")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.pen"
        penstock.pack(args.data, path, progress=False)
        file = PackFile(path)
        print(f"{len(file):,} images in {args.data}\n")
        head = ("", "bytes", "for each image", "/ originals")
        print("\n".join(aligned_table([head, *sizes_of(file)])))
        make, cut, check = cutting(file)
        print(f"\nto make a record: {make:,.0f} µs; its parts: {cut:.1f} µs and {check:.1f} µs\n")
        large = Path(folder) / "large.pen"
        repeat_samples(file, large, SAMPLES)
        print("\n".join(aligned_table([("a large index", ""), *planning(large)])))


if __name__ == "__main__":
    main()
