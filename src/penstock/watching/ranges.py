"""Waits and steps as NVTX ranges, for Nsight Systems and its kin: where `nvtx` is installed."""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from importlib import import_module
from typing import Any

DOMAIN = "penstock"


@functools.cache
def _installed() -> bool:
    return importlib.util.find_spec("nvtx") is not None


def nvtx_ranges() -> NvtxRanges | None:
    """Return what marks ranges; None where nvtx is not installed."""
    if "nvtx" not in sys.modules and not _installed():
        return None
    try:
        return NvtxRanges(import_module("nvtx"))
    except ImportError:
        return None


class NvtxRanges:
    """Marks each wait for a batch and each step; see `StepListener`."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._open: dict[int, Any] = {}  # by thread

    def asks(self) -> None:
        """Begin a wait."""
        self._begin("wait for a batch", "orange")

    def waited(self, step: int, begin_s: float, end_s: float, images: int) -> None:
        """Begin a step."""
        del begin_s, end_s, images
        self._begin(f"step {step}", "green")

    def computed(self, step: int, begin_s: float, end_s: float) -> None:
        """End a step."""
        del step, begin_s, end_s
        self.ends()

    def ends(self) -> None:
        """End what was begun last."""
        handle = self._open.pop(threading.get_ident(), None)
        if handle is not None:
            self._library.end_range(handle)

    def _begin(self, message: str, color: str) -> None:
        self.ends()
        handle = self._library.start_range(message=message, color=color, domain=DOMAIN)
        self._open[threading.get_ident()] = handle
