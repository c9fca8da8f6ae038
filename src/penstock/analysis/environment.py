"""What a report says about the machine that it was measured on."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

from penstock import _core
from penstock._version import __version__
from penstock.usable_cores import usable_cores

_CPU_INFO = Path("/proc/cpuinfo")
_LIBRARIES = ("torch", "torchvision", "pillow", "numpy")


def describe_environment() -> dict[str, str]:
    """Return names and versions, as far as they can be had."""
    found = {
        "penstock": __version__,
        "instructions": _core.active_isa(),
        "CPU": _cpu_name(),
        "cores": str(usable_cores()),
        "system": platform.platform(),
        "Python": platform.python_version(),
    }
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _cpu_name() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
