"""What the kernel parity tests share: the variants this CPU runs, and torchvision's import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock import _core

_ALL = ["scalar", "avx2", "avx512"]
VARIANTS = _ALL[: _ALL.index(_core.best_isa()) + 1]


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Run the block with the kernels of one instruction set."""
    before = _core.active_isa()
    _core.force_isa(name)
    try:
        yield
    finally:
        _core.force_isa(before)
