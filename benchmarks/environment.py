"""What a table of figures must say about the machine it was measured on."""

from __future__ import annotations

import os
import platform
import resource
import time
from pathlib import Path

from penstock import usable_cores
from penstock._core import supported_isas

__all__ = ["OtherWork", "cpu_name", "system_name"]

STAT = Path("/proc/stat")


def cpu_name() -> str:
    """Return the CPU's name, and the widest instruction set that penstock uses on it."""
    return f"{usable_cores.cpu_name()}, {supported_isas()[-1]}"


def system_name() -> str:
    """Return the operating system's name and kernel."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release()}"


class OtherWork:
    """How much of the machine others use, from Linux's /proc, since this was made."""

    def __init__(self) -> None:
        self._began, self._busy, self._ours = time.monotonic(), _busy_s(), _ours_s()

    def described(self) -> str:
        """Say it in words; processes of ours count when they have ended."""
        busy_s, stolen_s = (now - then for now, then in zip(_busy_s(), self._busy, strict=True))
        whole_s = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        if not busy_s or not whole_s:
            return "how busy the machine was is not known"
        others = max(0.0, busy_s - (_ours_s() - self._ours)) / whole_s
        return (
            f"meanwhile, other work took {others:.0%} of the machine's cores, and the host of the "
            f"machine {stolen_s / whole_s:.0%}"
        )


def _busy_s() -> tuple[float, float]:
    """Return the time of all cores that was used, and what a virtual machine's host took."""
    try:
        words = STAT.read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return (0.0, 0.0)
    user, nice, system, _idle, _waiting, irq, soft_irq, stolen = map(int, words[1:9])
    ticks = os.sysconf("SC_CLK_TCK")
    return ((user + nice + system + irq + soft_irq) / ticks, stolen / ticks)


def _ours_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)
