"""The processor cores this process may use: which and how many, and keeping to some of them."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MEMBERSHIP = Path("/proc/self/cgroup")
_MOUNTS = Path("/proc/self/mountinfo")
_CPU_INFO = Path("/proc/cpuinfo")
CAN_PIN = sys.platform == "linux"


def cpu_name() -> str:
    """Return the CPU's name as the system gives it.

    Virtual machines may hide which model it is, "AMD EPYC" say; then its numbers are given, too.
    """
    lines = (line.partition(":") for line in _text(_CPU_INFO).split("\n\n", 1)[0].splitlines())
    told = {name.strip(): value.strip() for name, _, value in lines}
    name = told.get("model name") or platform.processor() or platform.machine()
    numbers = (told.get("cpu family"), told.get("model"))
    if all(numbers) and not any(letter.isdigit() for letter in name):
        return f"{name} (family {numbers[0]}, model {numbers[1]})"
    return name


def usable_cores() -> int:
    """Return the number of cores that this process may use: as many threads make sense.

    It may be smaller than that of the machine, because of the process's affinity or a quota of
    processor time, which is how containers get "two cores" of a large machine. A quota of 1.5 is
    rounded up to 2: one thread could not use all of it, and two lose little by taking turns.
    """
    return max(1, math.ceil(usable_core_time()))


def usable_core_time() -> float:
    """Return how many cores' worth of time this process may use; a quota may be a fraction."""
    cores = _cores_by_affinity()
    quota = core_quota()
    return float(cores) if quota is None else min(float(cores), quota)


def core_quota() -> float | None:
    """Return the quota of processor time in cores, as `docker --cpus` sets it; None without one."""
    return _quota(_MEMBERSHIP, _MOUNTS)


def describe_cores() -> str:
    """Say how many cores are usable, and what keeps it from being all of the machine's."""
    cores, allowed, there = usable_cores(), _cores_by_affinity(), os.cpu_count() or 1
    quota = core_quota()
    if quota is not None and quota < allowed:
        rounded = "" if quota == cores else ", rounded up"
        return f"{cores} (a quota of {quota:g}{rounded}; the machine has {there})"
    return f"{cores} (of {there}, by affinity)" if cores < there else str(cores)


def _cores_by_affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(membership: Path, mounts: Path) -> float | None:
    """The least quota of the process's control groups, in cores; None without one.

    Version 2 has one tree with `cpu.max` ("max 100000" or "200000 100000") in every group above
    the process's own; version 1 has a tree for processor time with a file for each of the two.
    """
    quotas = []
    for line in _text(membership).splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        for tree, begins_at in _trees(mounts, is_unified=not controllers):
            quotas += [_quota_of(group) for group in _groups(tree, begins_at, path)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _trees(mounts: Path, *, is_unified: bool) -> Iterator[tuple[Path, str]]:
    """Yield where trees of control groups are mounted, and the group that is seen as their root."""
    for line in _text(mounts).splitlines():
        before, _, after = line.partition(" - ")
        places, kind = before.split(), after.split()
        if len(places) < 5 or len(kind) < 3:
            continue
        is_v1 = kind[0] == "cgroup" and "cpu" in kind[2].split(",")
        if is_v1 if not is_unified else kind[0] == "cgroup2":
            yield Path(places[4].replace("\\040", " ")), places[3]


def _groups(tree: Path, begins_at: str, path: str) -> list[Path]:
    """Return the folders of a group and those above it, as far as they can be seen.

    In a container the path may be the host's, of which only a part is mounted, or nothing.
    """
    inside = path.removeprefix(begins_at) if begins_at != "/" else path
    group = tree / inside.lstrip("/")
    if ".." in inside or not group.is_dir():
        return [tree]
    return [each for each in (group, *group.parents) if each == tree or tree in each.parents]


def _quota_of(group: Path) -> float | None:
    both = _text(group / "cpu.max").split()
    if not both:
        both = [_text(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    try:
        quota, period = (float(number) for number in both)
    except ValueError:  # "max", or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


@contextmanager
def pinned_to(cores: int) -> Iterator[None]:
    """Run on the first `cores` allowed cores: this process with all its threads and children.

    torch and OpenCV have as many threads meanwhile, as they would on a machine of that size. Where
    the system cannot pin, this does nothing. All that a quota allows need no pinning: it may be
    used on any cores, and others may be busy with just the first.
    """
    if sys.platform == "linux":
        allowed = os.sched_getaffinity(0)
        if cores < usable_cores():
            _pin_threads(set(sorted(allowed)[:cores]))
        try:
            with library_threads(cores):
                yield
        finally:
            _pin_threads(allowed)
    else:
        yield


def _pin_threads(cores: set[int]) -> None:
    """Pin every thread there is; those begun later follow the one that begins them."""
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), cores)


@contextmanager
def library_threads(most: int) -> Iterator[None]:
    """Keep torch and OpenCV, where they are imported, to so many threads.

    Otherwise they start threads for all cores, which wait for each other on the few usable ones.
    """
    torch, cv2 = sys.modules.get("torch"), sys.modules.get("cv2")
    torch_threads = torch.get_num_threads() if torch else 0
    cv2_threads = cv2.getNumThreads() if cv2 else 0
    try:
        if torch:
            torch.set_num_threads(min(most, torch_threads))
        if cv2:
            cv2.setNumThreads(min(most, cv2_threads))
        yield
    finally:
        if torch:
            torch.set_num_threads(torch_threads)
        if cv2:
            cv2.setNumThreads(cv2_threads)
