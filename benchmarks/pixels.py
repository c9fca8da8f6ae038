"""How far each peer's pixels are from those of torchvision on Pillow, for a crop without chance.

A few photos go through Resize(256) and CenterCrop(224) to uint8, in the peer's own words. The
reference is computed here, with Pillow alone, as torchvision computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from benchmarks.case import CENTRE, UINT8, Case
from benchmarks.runner import Bench, PeerError, PeerProcess

PHOTOS = 16
CROP_PX = 224


def comparison_case(case: Case) -> Case:
    """Return the crop without chance, for some photos of a case.

    They are those for which everybody agrees on the window, if there are any: libraries round half
    a pixel differently, and a window one pixel further says nothing about their pixels.
    """
    photos = tuple(dict.fromkeys(case.paths))
    clear = islice((path for path in photos if _is_clear(path, case)), PHOTOS)
    paths = tuple(clear) or photos[:PHOTOS]
    return replace(
        case,
        paths=paths,
        labels=tuple(range(len(paths))),
        crop_px=CROP_PX,
        batch_size=len(paths),
        repeats=1,
        crop=CENTRE,
        output=UINT8,
        augment_layers=0,
        cold=False,
        written="",
        arrays="",
    )


def _is_clear(path: str, case: Case) -> bool:
    """Whether the long side is hardly rounded, and what is cut off is the same on both sides."""
    with PIL.Image.open(path) as file:
        long = case.resize_px * max(file.size) / min(file.size)
    return long % 1 < 0.4 and (int(long) - CROP_PX) % 2 == 0 and case.resize_px % 2 == 0


def reference_pixels(case: Case) -> npt.NDArray[np.uint8]:
    """Return what torchvision gives on Pillow: images, channels, height, width."""
    return np.stack([_reference(path, case) for path in case.paths])


def _reference(path: str, case: Case) -> Any:
    with PIL.Image.open(path) as file:
        image = file.convert("RGB")
    short, size = min(image.size), case.resize_px
    width, height = (size if side == short else int(size * side / short) for side in image.size)
    image = image.resize((width, height), PIL.Image.Resampling.BILINEAR)
    left, top = (round((side - case.crop_px) / 2.0) for side in (width, height))
    image = image.crop((left, top, left + case.crop_px, top + case.crop_px))
    return np.asarray(image).transpose(2, 0, 1)


def difference(found: npt.NDArray[np.uint8], wanted: npt.NDArray[np.uint8]) -> tuple[int, float]:
    """Return the largest and the mean difference, in levels of 0 to 255."""
    if found.shape != wanted.shape:
        raise ValueError(f"expected images of shape {wanted.shape}, got {found.shape}")
    off = np.abs(found.astype(np.int16) - wanted.astype(np.int16))
    return int(off.max()), float(off.mean())


class Comparison:
    """Compares each peer once in a run, whatever the number of cases and cores."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._known: dict[tuple[str, Sequence[str]], tuple[tuple[int, float] | None, str]] = {}
        self._references: dict[Sequence[str], npt.NDArray[np.uint8]] = {}

    def __call__(self, process: PeerProcess) -> None:
        """Note a peer's error beside its speed; or why it is not known."""
        case = comparison_case(process.settings.case)
        key = (process.settings.peer, case.paths)
        if key not in self._known:
            try:
                self._known[key] = (self._error(process, case), "")
            except PeerError as error:
                self._known[key] = (None, str(error))
                self._bench.say(f"no pixels to compare: {error}")
        process.measured.pixel_error, process.measured.pixel_note = self._known[key]

    def _error(self, process: PeerProcess, case: Case) -> tuple[int, float]:
        target = Path(self._bench.folder) / "pixels.npy"
        process.write_pixels(self._bench.with_format(process.settings.peer, case), target)
        process.pause()
        if case.paths not in self._references:
            self._references[case.paths] = reference_pixels(case)
        return difference(np.load(target), self._references[case.paths])
