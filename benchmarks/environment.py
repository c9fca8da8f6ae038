"""What a table of figures must say about the machine it was measured on."""

from __future__ import annotations

import platform

from penstock.usable_cores import cpu_name

__all__ = ["cpu_name", "system_name"]


def system_name() -> str:
    """Return the operating system's name and kernel."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release()}"
