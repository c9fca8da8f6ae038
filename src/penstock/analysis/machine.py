"""The machine that was measured on: what it is, and how much of it other programs used."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from penstock import _core
from penstock._version import __version__
from penstock.usable_cores import cpu_name, describe_cores, usable_core_time

_LIBRARIES = ("torch", "torchvision", "pillow", "numpy")
_STAT = "/proc/stat"
_IDLE_FIELDS = (3, 4)  # idle and waiting for disks, in proc(5)'s order
_TIME_FIELDS = slice(11, 15)  # behind a process's name, in proc(5)'s order
_GUEST_FIELD = 8  # from here on counted in earlier fields already
WORTH_SAYING = 0.1
TOO_BUSY = 0.2  # rates that are wrong by as much lead to wrong advice


def describe_environment() -> dict[str, str]:
    """Return names and versions, as far as they can be had."""
    found = {
        "penstock": __version__,
        "instructions": _core.active_isa(),
        "CPU": cpu_name(),
        "cores": describe_cores(),
        "system": platform.platform(),
        "Python": platform.python_version(),
    }
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, slots=True)
class CpuSeconds:
    """CPU time of our cores so far: of everybody, and of this process and its descendants."""

    everybody: float
    ours: float
    passed: float  # cores times time
    ours_to_use: float = 1.0  # share of the cores' time: a quota may allow less than all


def read_cpu_seconds() -> CpuSeconds | None:
    """Read the counters; None where the system does not show them."""
    try:
        with open(_STAT, encoding="ascii") as file:
            lines = file.readlines()
        cores = os.sched_getaffinity(0)
        everybody, passed = sum_cores(lines, cores, os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, AttributeError):
        return None
    return CpuSeconds(
        everybody,
        sum(map(_seconds_of, process_tree(os.getpid()))),
        passed,
        usable_core_time() / len(cores),
    )


def process_tree(pid: int) -> Iterator[Path]:
    """Yield the folders in /proc of a process and of its descendants that still run."""
    pending = [str(pid)]
    while pending:
        process = Path("/proc", pending.pop())
        yield process
        with suppress(OSError):  # it may end meanwhile
            for children in process.glob("task/*/children"):
                pending += children.read_text(encoding="ascii").split()


def _seconds_of(process: Path) -> float:
    """CPU time of a process and of its ended children; nothing if it ends meanwhile."""
    try:
        stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    fields = stat.rpartition(")")[2].split()  # behind the name, which may have blanks
    return sum(map(int, fields[_TIME_FIELDS])) / os.sysconf("SC_CLK_TCK")


def sum_cores(lines: Iterable[str], cores: Iterable[int], ticks_a_s: int) -> tuple[float, float]:
    """Return seconds that these cores were busy, and seconds that passed on them."""
    names = {f"cpu{core}" for core in cores}
    busy = passed = 0
    for line in lines:
        name, *fields = line.split()
        if name in names:
            ticks = [int(field) for field in fields[:_GUEST_FIELD]]
            passed += sum(ticks)
            busy += sum(ticks) - sum(ticks[field] for field in _IDLE_FIELDS)
    return busy / ticks_a_s, passed / ticks_a_s


def competing_load(before: CpuSeconds | None, after: CpuSeconds | None) -> float | None:
    """Return the share of our cores' time that other programs used; None if that is not known.

    Where a quota allows us a part of the cores, others may use the rest, and take nothing from us.
    """
    if before is None or after is None or after.passed <= before.passed:
        return None
    passed = after.passed - before.passed
    theirs = (after.everybody - before.everybody) - (after.ours - before.ours)
    ours = after.ours_to_use * passed
    return min(1.0, max(0.0, (theirs - (passed - ours)) / ours))


def caution_of_competing_load(share: float | None) -> tuple[str, ...]:
    """Return what a reader must know of it: a line if it is worth mentioning, or nothing."""
    if share is None or not WORTH_SAYING <= share < TOO_BUSY:
        return ()
    told = (
        f"CAUTION: other programs used {share:.0%} of the cores meanwhile, so rates are too low "
        "and uncertain; measure again when the machine is idle"
    )
    return (told,)


def busy_banner(share: float | None) -> str:
    """Return why nothing is concluded from what was measured; nothing on a quiet machine."""
    if share is None or share < TOO_BUSY:
        return ""
    return (
        f"No verdict: other programs used {share:.0%} of the cores while this was measured, so the "
        "rates are too low, and not to be compared with each other. Measure again when the "
        "machine is idle."
    )
