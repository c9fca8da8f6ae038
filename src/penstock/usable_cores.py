"""The processor cores this process may use: which and how many, and keeping to some of them."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_CPU_INFO = Path("/proc/cpuinfo")
CAN_PIN = sys.platform == "linux"


def cpu_name() -> str:
    """Return the CPU's name as the system gives it."""
    for line in _text(_CPU_INFO).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Return the number of cores that this process may use.

    It may be smaller than that of the machine, because of the process's affinity or a quota of
    processor time, which is how containers get "two cores" of a large machine.
    """
    quota = _quota(_CGROUPS, _MEMBERSHIP)
    cores = _cores_by_affinity()
    return cores if quota is None else max(1, min(cores, math.ceil(quota)))


def _cores_by_affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(root: Path, membership: Path) -> float | None:
    """The least quota of the process's control groups, in cores; None without one.

    Version 2 has one tree with `cpu.max` ("max 100000" or "200000 100000") in every group above
    the process's own; version 1 has a tree for processor time with a file for each of the two.
    """
    quotas = []
    for line in _text(membership).splitlines():
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        tree = root / "cpu" if controllers else root
        group = tree / path.lstrip("/")
        # In a container the path may be the host's, which cannot be seen from inside.
        groups = [group, *group.parents] if group.is_dir() else [tree]
        quotas += [_quota_of(each) for each in groups if each == tree or tree in each.parents]
    return min((quota for quota in quotas if quota is not None), default=None)


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
    the system cannot pin, this does nothing.
    """
    if sys.platform == "linux":
        allowed = os.sched_getaffinity(0)
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
