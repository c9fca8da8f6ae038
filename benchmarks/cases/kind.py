"""What is known of a case before its images are: who takes part, and with what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.case import Case


@dataclass(frozen=True, slots=True)
class CaseKind:
    """A question, and how it is asked unless the command line says otherwise."""

    name: str
    make: Callable[[tuple[str, ...]], Case]  # from paths of images
    photos: str  # folder of the test data
    images: int  # in a pass
    peers: tuple[str, ...]
    layers: tuple[int, ...] = (0,)  # of RandAugment; every peer is measured with each
    quick_layers: tuple[int, ...] = (0,)  # when in a hurry
    cores: tuple[int, ...] = (1, 2)
    rounds: int = 7
    seconds: float = 3.0  # of a turn
