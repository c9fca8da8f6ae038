"""What is known of a case before its images are: who takes part, and with what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.case import Case
from benchmarks.peers import LOAD


@dataclass(frozen=True, slots=True)
class CaseKind:
    """A question, and how it is asked unless the command line says otherwise."""

    name: str
    title: str  # of its table
    make: Callable[[tuple[str, ...]], Case]  # from paths of images
    photos: str  # folder of the test data
    images: int  # in its folder, or in a file of one of the formats
    peers: tuple[str, ...]
    repeats: int = 32  # of the images in an epoch
    layers: tuple[int, ...] = (0,)  # of RandAugment; every peer is measured with each
    quick_layers: tuple[int, ...] = (0,)  # when in a hurry
    cores: tuple[int, ...] = (1, 2)
    rounds: int = 5
    seconds: float = 2.0  # of a turn
    works: tuple[str, ...] = (LOAD,)  # what is measured of the peers that can do it
    turn: str = "delivers batches"  # what a peer does in its turn
    compares_pixels: bool = True  # whether peers also show their pixels of a crop without chance
    # Makes other images of the folder's photos, and returns their paths.
    make_images: Callable[[Path, int], tuple[str, ...]] | None = None
