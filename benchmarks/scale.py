"""What large data sets cost before the first batch: `python -m benchmarks.scale --write`.

Packed files are made whose indexes have 10^3 to 10^9 samples, and loaders are opened on them, each
in a process of its own, as one of 1,000 ranks: as a local file up to the largest size, and from a
web server on this machine (nginx) as far as memory allows. Everything goes through the code that a
training runs. What is not real:

- The samples are some hundred photos again and again: the index names the same records many times.
- Of a local file's columns of samples, only the rows that are looked at are written. The rest are
  holes, which take no room on the disk. Nobody reads them: that is what is measured.
- Of a file on the server, columns that training does not read are holes, all others are complete,
  since their checksums are compared.

`benchmarks/results/scale.md` says which sizes were measured and which follow by proportion.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import penstock as ps
from benchmarks.cold import drop_from_memory
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.object_store import served
from benchmarks.table import aligned
from penstock import transforms as T
from penstock.loading.sampler import Order
from penstock.packing.format import BLOCK, SYSTEM, TABLE, Entry, Header, id_of, row_bytes
from penstock.packing.format import aligned as aligned_place
from penstock.packing.read import PackFile

RESULT = CHECKOUT / "benchmarks" / "results" / "scale.md"
BATCH = 256
RANK, RANKS = 7, 1000
PHOTOS = 256
LISTED = 12  # batches that are written for a loader to read, beyond what it reads ahead
PROBED = 4096  # more than a plan looks at
AT_ONCE = 1 << 20  # samples written at a time
MOST_READ_WHOLE = 100_000  # from here on, no index is so small that all of it is read at once
HOLES = {"name", "note", "parts", "part_rows", "rows_around", "restores", "original_size",
         "original_crc"}  # fmt: skip


def options(kind: str, epoch_ranks: int = RANKS, rank: int = RANK) -> dict[str, Any]:
    """Return what a loader of one kind of shuffling is made with."""
    sampling = {"sampling": ps.WindowShuffle(64)} if kind == "window" else {}
    return {
        "batch_size": BATCH,
        "transform": T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip()]),
        "shuffle": True,
        "threads": 2,
        "rank": rank,
        "world_size": epoch_ranks,
        **sampling,
    }


class LargeIndex:
    """A packed file of `samples`, which are those of a small one over and over."""

    def __init__(self, small: PackFile, path: Path, samples: int, *, complete: bool) -> None:
        self.path, self.small = path, small
        self.times = -(-samples // len(small))
        self.samples = self.times * len(small)
        self.entries: list[Entry] = []
        place = small.tail.records_end
        with path.open("w+b") as file:
            file.write(small.stored(0, place).tobytes())
            for entry in small.entries:
                place = self._write_column(file.fileno(), entry, place, complete=complete)
            directory = b"".join(entry.to_bytes() for entry in self.entries)
            tail = replace(
                small.tail, directory_offset=place, samples=self.samples,
                directory_crc=zlib.crc32(directory), file_id=id_of(directory),
            )  # fmt: skip
            end = directory + bytes(-len(directory) % 64) + tail.to_bytes()
            os.pwrite(file.fileno(), end, place)
            os.pwrite(file.fileno(), Header(small.flags, tail.file_id).to_bytes(), 0)

    def _write_column(self, file: int, entry: Entry, place: int, *, complete: bool) -> int:
        """Write a column of the directory, or leave room for it; returns where it ends."""
        times = 1 if entry.role == TABLE else self.times
        fixed = entry.column.kind == "fixed"
        count = entry.count * times
        size = count * row_bytes(entry.column) if fixed else (count + 1) * 8
        crc = values_crc = values_bytes = 0
        if entry.role == TABLE:
            content = self.small.stored(entry.offset, entry.size).tobytes()
            values = self.small.stored(entry.values_offset, entry.values_bytes).tobytes()
            os.pwrite(file, content, place)
            os.pwrite(file, values, place + aligned_place(size))
            crc, values_crc, values_bytes = entry.crc, entry.values_crc, entry.values_bytes
        elif fixed and (entry.role == BLOCK or (complete and entry.column.name not in HOLES)):
            begins = entry.role == BLOCK and entry.column.name == "first"
            crc = self._write_tiled(file, entry, place, len(self.small) if begins else 0)
        elif complete and self.samples <= MOST_READ_WHOLE:
            crc = zlib.crc32(bytes(size))
        values_offset = 0 if fixed else place + aligned_place(size)
        self.entries.append(
            replace(
                entry, count=count, offset=place, size=size, crc=crc, values_offset=values_offset,
                values_bytes=values_bytes, values_crc=values_crc,
            )
        )  # fmt: skip
        return place + aligned_place(size) if fixed else values_offset + aligned_place(values_bytes)

    def _write_tiled(self, file: int, entry: Entry, place: int, step: int) -> int:
        """Write a column of all samples or blocks, and return its checksum."""
        reader: Any = (self.small.system, self.small.columns, None, self.small.blocks)[entry.role]
        values = reader[entry.column.name].values
        crc, at_once = 0, max(1, AT_ONCE // len(values))
        for begin in range(0, self.times, at_once):
            turns = np.arange(begin, min(begin + at_once, self.times), dtype=np.uint64)
            rows = np.broadcast_to(values, (len(turns), *values.shape))
            if step:
                rows = rows + (turns * np.uint64(step))[:, None]
            raw = np.ascontiguousarray(rows, values.dtype).tobytes()
            os.pwrite(file, raw, place)
            crc, place = zlib.crc32(raw, crc), place + len(raw)
        return crc

    def fill(self, samples: Iterable[int]) -> None:
        """Write the rows of some samples."""
        chosen = np.unique(np.fromiter(samples, np.int64))
        with self.path.open("r+b") as file:
            for entry in self.entries:
                if entry.role in {TABLE, BLOCK} or entry.column.kind != "fixed":
                    continue
                columns: Any = self.small.system if entry.role == SYSTEM else self.small.columns
                values, width = columns[entry.column.name].values, row_bytes(entry.column)
                for sample in chosen.tolist():
                    row = values[sample % len(self.small)].tobytes()
                    os.pwrite(file.fileno(), row, entry.offset + sample * width)


def looked_at(path: Path, samples: int, ranks: int = RANKS) -> set[int]:
    """Return the samples that a loader will read, by its own word, in all that is measured."""
    wanted = set(np.linspace(0, samples - 1, PROBED).astype(np.int64).tolist())
    for kind in ("global", "window"):
        with ps.Loader(path, **options(kind, ranks, RANK % ranks)) as loader:
            for _ in range(2):
                for batch in islice(iter(loader.batch_sampler), LISTED):
                    wanted.update(batch)
                loader.load_state_dict(middle_of(loader, ranks))
    return wanted


def middle_of(loader: ps.Loader, ranks: int) -> dict[str, int]:
    """Return the state of a training that is half through its first epoch."""
    state = loader.state_dict()
    state["epoch"], state["consumed"] = 0, len(loader) // 2 * BATCH * ranks
    return state


def memory_mb() -> dict[str, float]:
    """Return what this process has in memory: of its own, and of mapped files."""
    found = {}
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in {"RssAnon", "RssFile", "VmHWM"}:
            found[name] = int(value.split()[0]) / 1e3
    return found


def bytes_from_disk() -> int:
    """Return what the disk was asked for by this process."""
    lines = dict(
        line.split(": ") for line in Path("/proc/self/io").read_text().strip().splitlines()
    )
    return int(lines["read_bytes"])


def measure(data: str, kind: str, ranks: int = RANKS) -> dict[str, Any]:
    """Open a loader, get its first batch, and go on in the middle of the epoch."""
    with ps.Loader(data_of_one(), **options("global", 1, 0)) as warm_up:  # imports, code, plan
        next(iter(warm_up))
    before, read = memory_mb(), bytes_from_disk()
    start = time.perf_counter()
    loader = ps.Loader(data, **options(kind, ranks, RANK % ranks))
    found: dict[str, Any] = {"samples": len(loader.source), "open_s": time.perf_counter() - start}
    counts = loader.io
    if counts is not None:
        found["open_requests"], found["open_bytes"] = counts.requests, counts.bytes_read
    begun = time.perf_counter()
    images, _ = next(iter(loader))
    found["first_batch_s"] = time.perf_counter() - begun
    after = memory_mb()
    found["bytes_read"] = bytes_from_disk() - read
    found["own_mb"] = after["RssAnon"] - before["RssAnon"]
    found["mapped_mb"] = after["RssFile"] - before["RssFile"]
    found["peak_mb"] = after["VmHWM"]
    found["pixels"] = list(images.shape)
    begun = time.perf_counter()
    state = loader.state_dict()
    found["state_s"], found["state_bytes"] = time.perf_counter() - begun, len(json.dumps(state))
    loader.load_state_dict(middle_of(loader, ranks))
    begun = time.perf_counter()
    next(iter(loader))
    found["resume_s"] = time.perf_counter() - begun
    loader.close()
    return found


def data_of_one() -> str:
    """Return the small packed file that all others repeat."""
    return os.environ["PENSTOCK_SCALE_SMALL"]


def in_process(data: str, kind: str, small: Path, ranks: int = RANKS) -> dict[str, Any]:
    """Measure in a process of its own."""
    how = ["--measure", data, "--kind", kind, "--ranks", str(ranks)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", *how],
        env={**os.environ, "PENSTOCK_SCALE_SMALL": str(small)},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{data}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def small_file(data: Path | None, folder: Path) -> Path:
    """Pack some photos, which all other files repeat."""
    small = folder / "small.pen"
    paths = sorted({*image_paths(data or default_folder(), PHOTOS)})
    ps.pack(paths, small, labels=list(range(len(paths))), progress=False)
    return small


def local_figures(
    powers: Iterable[int], data: Path | None, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return what local files with so many powers of ten of samples take, by global shuffling.

    For one rank, so that the first batch is whole whatever the size: with many, a small data set
    gives each of them a few samples. Cold first; then warm, when what was read is in memory.
    """
    rows = []
    with tempfile.TemporaryDirectory() as name:
        small = small_file(data, Path(name))
        file, path = PackFile(small), Path(name) / "large.pen"
        for power in powers:
            say(f"a file of 10^{power} samples")
            index = LargeIndex(file, path, 10**power, complete=False)
            index.fill(looked_at(path, index.samples, 1))
            drop_from_memory([path])
            cold, warm = (in_process(str(path), "global", small, 1) for _ in range(2))
            at_hand = {f"warm_{name}": warm[name] for name in ("open_s", "first_batch_s")}
            rows.append({**cold, **at_hand, "photos": len(file)})
            path.unlink()
    return rows


def measure_orders() -> list[tuple[str, ...]]:
    """Time the order of samples by itself, up to 10^10, beside what a list of it would take."""
    rows: list[tuple[str, ...]] = [("samples", "a batch of 256, µs", "as a list it would take, GB")]
    for exponent in range(3, 11):
        order = Order(10**exponent, 0, 3, shuffle=True)
        positions = np.arange(BATCH, dtype=np.int64) * (10**exponent // BATCH or 1)
        positions %= 10**exponent
        begin = time.perf_counter()
        for _ in range(50):
            order.at(positions)
        took = (time.perf_counter() - begin) / 50
        rows.append((f"10^{exponent}", f"{took * 1e6:,.0f}", f"{8e-9 * 10**exponent:,.3g}"))
    return rows


def elastic(data: str, plan: tuple[int, ...] = (1000, 992, 1000)) -> list[tuple[str, ...]]:
    """Go through an epoch whose number of ranks changes twice, and count how often samples come."""
    state: dict[str, int] | None = None
    rows: list[tuple[str, ...]] = [("ranks", "samples delivered", "of them for a second time")]
    seen: Any = None
    for turn, ranks in enumerate(plan):
        fresh: list[int] = []
        saved: dict[str, int] | None = None
        for rank in range(ranks):
            with (
                ps.Loader(data, **options("global", ranks, rank)) as loader,
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")  # that samples come again, which is counted here
                if seen is None:
                    seen = np.zeros(len(loader.source), dtype=np.int64)
                if state is not None:
                    loader.load_state_dict(state)
                batches = len(loader) // 3 if turn + 1 < len(plan) else None
                for batch in islice(iter(loader.batch_sampler), batches):
                    fresh += batch
                if rank == 0 and batches is not None:
                    done = 0 if state is None else state["consumed"] // ranks
                    saved = {**loader.state_dict(), "consumed": (done + batches * BATCH) * ranks}
        before = seen[fresh] > 0
        twice = int(before.sum()) + len(fresh) - len(np.unique(fresh))
        np.add.at(seen, fresh, 1)
        rows.append((f"{ranks:,}", f"{len(fresh):,}", f"{twice:,}"))
        state = saved
    missing = int((seen == 0).sum())
    rows.append(("never delivered", f"{missing:,}", ""))
    return rows


def report(figures: dict[str, list[dict[str, Any]]], orders: Any, ranks: Any, size: int) -> str:
    """Return all of it as Markdown."""

    def local_rows(name: str) -> Sequence[tuple[str, ...]]:
        head = ("samples", "Loader, s", "first batch, s", "of its own, MB", "mapped, MB",
                "read from disk, MB", "resumed, s", "state_dict, ms")  # fmt: skip
        return [head] + [
            (
                f"{one['samples']:,}", f"{one['open_s']:.3f}", f"{one['first_batch_s']:.2f}",
                f"{one['own_mb']:,.0f}", f"{one['mapped_mb']:,.0f}",
                f"{one['bytes_read'] / 1e6:,.0f}", f"{one['resume_s']:.2f}",
                f"{one['state_s'] * 1e3:,.0f}",
            )
            for one in figures[name]
        ]  # fmt: skip

    def far_rows(name: str) -> Sequence[tuple[str, ...]]:
        head = ("samples", "Loader, s", "requests", "MB", "bytes a sample", "first batch, s",
                "of its own, MB", "peak, MB")  # fmt: skip
        return [head] + [
            (
                f"{one['samples']:,}", f"{one['open_s']:.2f}", f"{one['open_requests']:,}",
                f"{one['open_bytes'] / 1e6:,.1f}", f"{one['open_bytes'] / one['samples']:,.1f}",
                f"{one['first_batch_s']:.2f}", f"{one['own_mb']:,.0f}", f"{one['peak_mb']:,.0f}",
            )
            for one in figures[name]
        ]  # fmt: skip

    parts = [
        "# What large data sets cost before the first batch",
        "",
        "`python -m benchmarks.scale --write`",
        "",
        f"{cpu_name()}, {os.cpu_count()} cores, {system_name()}, penstock {ps.__version__}.",
        (
            f"Rank {RANK} of {RANKS:,}, batches of {BATCH}, RandomResizedCrop(224) and flip, two "
            f"threads; records of {size:,} bytes on average."
        ),
        "Each line is one process; what importing and a first loader take is not counted.",
        f"Two cores are enough for a load of 2; it was {os.getloadavg()[2]:.0f} at the end.",
        "",
        "Every figure was measured, through the code that a training runs.",
        (
            "What the files lack is said at the head of `benchmarks/scale.py`: photos repeat, and "
            "columns that nobody reads are holes."
        ),
        "",
        "## A local file, `shuffle=True`",
        "",
        (
            "The file's pages were dropped from memory before; those that are read are mapped, and "
            "shared by all processes of a machine."
        ),
        "",
        *aligned(local_rows("local global")),
        "",
        "## A local file, `sampling=WindowShuffle(64)`",
        "",
        *aligned(local_rows("local window")),
        "",
        "## From a server, `shuffle=True`",
        "",
        (
            "nginx on this machine, without latency: add twice that of your store to what the "
            "Loader takes, and once or twice to the first batch."
        ),
        "",
        *aligned(far_rows("far global")),
        "",
        "## From a server, `sampling=WindowShuffle(64)`",
        "",
        *aligned(far_rows("far window")),
        "",
        "## The order of samples by itself",
        "",
        *aligned(orders),
        "",
        "## An epoch whose number of ranks changes twice",
        "",
        (
            "`shuffle=True`; each number of ranks but the last goes on for a third of an epoch; "
            "all ranks of the next load its state."
        ),
        "",
        *aligned(ranks),
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Measure, and print or write a report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to repeat")
    parser.add_argument("--local", type=int, default=9, help="largest power of ten of local files")
    parser.add_argument("--far", type=int, default=8, help="the same, of files on a server")
    parser.add_argument("--folder", type=Path, help="where to make files; default: temporary")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}, too")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=RANKS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.kind, args.ranks)))
        return
    figures: dict[str, list[dict[str, Any]]] = {
        f"{where} {kind}": [] for where in ("local", "far") for kind in ("global", "window")
    }
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name) / "served"
        folder.mkdir()
        small = small_file(args.data, Path(name))
        file = PackFile(small)
        path = folder / "large.pen"
        with served(folder) as port:
            for exponent in range(3, max(args.local, args.far) + 1):
                for where, last in (("local", args.local), ("far", args.far)):
                    if exponent > last:
                        continue
                    index = LargeIndex(file, path, 10**exponent, complete=where == "far")
                    if where == "local":
                        index.fill(looked_at(path, index.samples))
                    for kind in ("global", "window"):
                        drop_from_memory([path])
                        data = (
                            str(path)
                            if where == "local"
                            else f"http://127.0.0.1:{port}/{path.name}"
                        )
                        found = in_process(data, kind, small)
                        figures[f"{where} {kind}"].append(found)
                        print(where, kind, json.dumps(found), flush=True)
                    path.unlink()
        LargeIndex(file, path, 10**6, complete=True)
        changing = elastic(str(path))
    text = report(figures, measure_orders(), changing, file.tail.records_end // len(file))
    print(text)
    if args.write:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
