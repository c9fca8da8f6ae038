"""torchvision's decoders, also where its wheel was built for another torch than the one here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@cache
def can_decode() -> bool:
    """Load what torchvision.io decodes with, and say whether that worked."""
    import torchvision.extension
    import torchvision.io.image

    from benchmarks.peers.cuda_stand_in import load_stand_in

    if torchvision.io.image._has_image_ops():
        return True
    try:
        load_stand_in()
    except ModuleNotFoundError:
        return False
    return bool(torchvision.extension._load_library("image"))


@contextmanager
def decoders() -> Iterator[None]:
    """Let torchvision.io use them, until the end: other code sees torchvision as it was."""
    import torchvision.io.image as module

    before, works = module._has_image_ops, can_decode()
    module._has_image_ops = lambda: works
    try:
        yield
    finally:
        module._has_image_ops = before
