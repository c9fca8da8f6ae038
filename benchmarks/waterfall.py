"""Where each microsecond goes, from stored bytes to a batch: `python -m benchmarks.waterfall`.

Two measurements. A loader on one core reads real photos, and the kernel says how much CPU time
each of its threads took: those of Python plan and hand over, others read, one computes. What the
computing thread does is split by a sampling profiler, perf, which looks at `cpp/guard` while it
runs the same work on one made-up photo. The shares found there are applied to the loader's time.

Beside them stand two floors: the time that the bytes alone take to move, and the time that the
arithmetic alone takes if every instruction does as much as it can.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import penstock
from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.instructions import PROGRAM
from benchmarks.table import NOT_KNOWN, aligned
from penstock import transforms as T
from penstock._core import active_isa

RESULT = CHECKOUT / "benchmarks" / "results" / "waterfall.md"
PACKED = CHECKOUT / "build" / "waterfall.pen"
PICTURE = RESULT.with_suffix(".svg")
SIDE = 224
TASKS = Path("/proc/self/task")

# Functions of the core by the stage they belong to; the first that matches counts.
STAGES = {
    "entropy decoding": r"decode_mcus|huffman|find_marker|unstuff|jpeg_header|scan|marker",
    "unpack tiles": r"unpack_|take_|decode_tiles|TileImage|TileDecoder|tile_row",
    "inverse DCT": r"idct|expand",
    "upsample, to RGB": r"upsample|rgb_row|RegionOutput|finish_strip",
    "resample": r"combine|resize_|resample|Horizontal|Vertical|taps|coefficients|placement|table",
    "normalise, write": r"convert|RowWriter|mirror|Copy",
}
OTHER = "the rest of it"
_LEAST_SHARE = 0.1  # per cent; a function that takes less is not worth a stage
PLANNING, READING = "Python: plan, hand over", "read, wake threads"
CASES = {"`.pen`": "tiles to float32", "folder": "JPEG to float32"}


@dataclass(frozen=True, slots=True)
class Threads:
    """CPU time of a loader's threads, in microseconds for each image."""

    python_us: float
    reading_us: float
    computing_us: float

    @property
    def all_us(self) -> float:
        """Of all threads together: on one core, the time that an image takes."""
        return self.python_us + self.reading_us + self.computing_us


# ---- a loader's threads --------------------------------------------------------------------------


def cpu_us() -> dict[int, float]:
    """Return the CPU time of each thread of this process."""
    spent = {}
    for task in TASKS.iterdir():
        # A thread may end between the list and the look.
        with suppress(FileNotFoundError, ProcessLookupError), (task / "schedstat").open() as file:
            spent[int(task.name)] = int(file.read().split()[0]) / 1e3
    return spent


CROPS = T.Compose(
    [
        T.RandomResizedCrop(SIDE),
        T.RandomHorizontalFlip(),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)


def time_threads(
    data: str | list[str],
    labels: Sequence[int] | None,
    epochs: int,
    transform: T.Compose = CROPS,
    batch_size: int = 64,
) -> Threads:
    """Run epochs on one core; the fastest one counts."""
    there = set(cpu_us())
    found = []
    loader = penstock.Loader(
        data, labels=labels, batch_size=batch_size, transform=transform, shuffle=True, threads=1,
        output="numpy",
    )  # fmt: skip
    with loader.replica() as loader:  # which begins no epoch before it is asked for it
        for _ in range(epochs + 1):  # the first warms up
            before = cpu_us()
            images = sum(len(batch) for batch, _ in loader)
            spent = {task: us - before.get(task, 0) for task, us in cpu_us().items()}
            python = {thread.native_id for thread in threading.enumerate()}
            # The engine starts its readers first, and here a single thread that computes.
            core = sorted(set(spent) - python - there)
            python_us = sum(us for task, us in spent.items() if task in python)
            reading_us = sum(spent[task] for task in core[:-1])
            found.append(Threads(python_us / images, reading_us / images, spent[core[-1]] / images))
    return min(found[1:], key=lambda one: one.all_us)


# ---- what the computing thread does --------------------------------------------------------------


def stage_of(function: str) -> str:
    """Return the stage that a function of the core belongs to."""
    return next((name for name, like in STAGES.items() if re.search(like, function)), OTHER)


def shares_of(report: str) -> dict[str, float]:
    """Return the share of each stage, from perf's list of functions."""
    shares: dict[str, float] = {}
    for share, function in re.findall(r"^\s*([\d.]+)%\s+\[.\]\s+(.+?)\s*$", report, re.MULTILINE):
        if "penstock::guard" in function or "penstock" not in function:
            continue  # making the photo, the C library's start
        name = stage_of(function) if float(share) >= _LEAST_SHARE else OTHER
        shares[name] = shares.get(name, 0.0) + float(share)
    whole = sum(shares.values())
    return {name: share / whole for name, share in shares.items()}


def profile(case: str, seconds: float) -> dict[str, float] | None:
    """Return the share of each stage of a case; None where there is no perf."""
    perf = shutil.which("perf")
    if perf is None or not PROGRAM.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        recorded = str(Path(folder) / "perf.data")
        record = (perf, "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", recorded)
        done = subprocess.run(
            (*record, PROGRAM, case, str(seconds)), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            return None
        report = (perf, "report", "-i", recorded, "--stdio", "--no-children", "-g", "none")
        shown = subprocess.run(
            (*report, "-F", "overhead,sym"), capture_output=True, text=True, check=True
        )
    return shares_of(shown.stdout)


# ---- floors --------------------------------------------------------------------------------------


def bytes_per_us() -> float:
    """Return how many bytes a core copies in a microsecond, read and written, beyond its cache."""
    source = np.ones(1 << 25, dtype=np.uint8)
    target = np.zeros_like(source)
    least_s = np.inf
    for _ in range(100):  # others may use the memory meanwhile
        begun = time.perf_counter()
        np.copyto(target, source)
        least_s = min(least_s, time.perf_counter() - begun)
    return 2 * source.size / (least_s * 1e6)


def operations(height: int = 290, width: int = 320) -> int:
    """Return the additions and multiplications for one crop of so many pixels, colour at half size.

    A transform of eight values takes 12 multiplications and 32 additions; a colour of a pixel six
    operations; a sample of a resized image as many products as the filter is wide.
    """
    samples = height * width * 3 // 2
    transforms = samples // 64 * 16 * (12 + 32)
    across, down = 2 * width / SIDE + 1, 2 * height / SIDE + 1
    resized = 3 * SIDE * (height * across + SIDE * down) * 2
    return int(transforms + 6 * height * width + resized + 4 * 3 * SIDE * SIDE)


def clock_mhz() -> float:
    """Return the clock that the kernel tells, or 3000."""
    try:
        found = re.search(r"cpu MHz\s*: ([\d.]+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return float(found[1]) if found else 3000.0


# ---- the page ------------------------------------------------------------------------------------


def waterfall(threads: Threads, shares: Mapping[str, float] | None) -> dict[str, float]:
    """Return the microseconds of each stage, in the order in which an image meets them."""
    stages = {PLANNING: threads.python_us, READING: threads.reading_us}
    if shares is None:
        return stages | {"decode, resample, write": threads.computing_us}
    ordered = [name for name in (*STAGES, OTHER) if name in shares]
    return stages | {name: shares[name] * threads.computing_us for name in ordered}


def table_of(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Lay out the stages of all ways."""
    names = list(dict.fromkeys(name for stages in found.values() for name in stages))
    names.sort(key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    rows = [("microseconds per image", *found)]
    rows += [
        (
            name,
            *(f"{stages[name]:.1f}" if name in stages else NOT_KNOWN for stages in found.values()),
        )
        for name in names
    ]
    rows.append(("all", *(f"{sum(stages.values()):.1f}" for stages in found.values())))
    return aligned(rows)


_ORDER = [PLANNING, READING, *STAGES, OTHER]


def draw(
    target: Path, found: Mapping[str, Mapping[str, float]], floors: Mapping[str, float]
) -> None:
    """Write bars, one for each way, whose parts are the stages; lines are the floors."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    names = [name for name in _ORDER if any(name in stages for stages in found.values())]
    starts = dict.fromkeys(found, 0.0)
    for number, name in enumerate(names):
        widths = [stages.get(name, 0.0) for stages in found.values()]
        ways = [way.strip("`") for way in found]
        axes.barh(ways, widths, left=list(starts.values()), label=name, color=f"C{number}")
        starts = {way: starts[way] + width for way, width in zip(found, widths, strict=True)}
    for style, (name, us) in zip(("--", ":"), floors.items(), strict=True):
        axes.axvline(us, linestyle=style, color="black", linewidth=1, label=f"floor: {name}")
    axes.invert_yaxis()
    axes.set_xlabel("microseconds per image on one core")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.savefig(target, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write it with its picture if asked."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.waterfall",
        description="Says where each microsecond goes, from stored bytes to a batch of 224 crops.",
    )
    parser.add_argument("--images", type=int, default=1000, help="in an epoch (1000)")
    parser.add_argument("--epochs", type=int, default=5, help="of which the fastest counts (5)")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name} and a picture")
    args = parser.parse_args(arguments)
    if not TASKS.is_dir():
        print("benchmarks.waterfall: needs Linux, for the times of threads.", file=sys.stderr)
        return 2
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    folder = default_folder()
    paths = image_paths(folder, args.images)
    labels = [0] * len(paths)
    PACKED.unlink(missing_ok=True)  # for the packer may have changed since the last time
    PACKED.parent.mkdir(exist_ok=True)
    penstock.pack(list(paths), PACKED, labels=labels)
    data: dict[str, tuple[str | list[str], list[int] | None]] = {
        "`.pen`": (str(PACKED), None),
        "folder": (list(paths), labels),
    }
    found = {
        way: waterfall(time_threads(*source, args.epochs), profile(CASES[way], 3.0))
        for way, source in data.items()
    }
    stored = PACKED.stat().st_size / len(paths)
    written = 3 * SIDE * SIDE * 4
    rate, mhz, lanes = bytes_per_us(), clock_mhz(), 64 if active_isa() == "avx512" else 32
    floors = {"memory traffic": (stored + written) / rate, "arithmetic": operations() / lanes / mhz}
    lines = [
        f"- {cpu_name()}; {system_name()}; {active_isa()}; penstock {penstock.__version__}",
        (
            f"- {len(paths):,} images from {folder.name}, batches of 64, float32, on one core; the "
            f"fastest of {args.epochs} epochs by CPU time"
        ),
        (
            f"- floor of memory traffic: {floors['memory traffic']:.0f} us, for {stored:,.0f} "
            f"bytes stored and {written:,} written at {rate / 1e3:.1f} GB/s"
        ),
        (
            f"- floor of arithmetic: {floors['arithmetic']:.0f} us, for {operations() / 1e6:.1f} "
            f"million operations, {lanes} in each cycle at {mhz:,.0f} MHz"
        ),
    ]
    if any("decode, resample, write" in stages for stages in found.values()):
        lines.append("- NOT SPLIT: without perf and `make guard`, the computing thread is one row")
    text = "\n".join([*lines, "", *table_of(found), ""])
    print(text)
    if args.write:
        draw(PICTURE, found, floors)
        made_by = "Made by `python -m benchmarks.waterfall --write`."
        picture = f"![microseconds per image by stage]({PICTURE.name})"
        page = f"# From stored bytes to a batch\n\n{text}\n{picture}\n\n{made_by}\n"
        RESULT.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
