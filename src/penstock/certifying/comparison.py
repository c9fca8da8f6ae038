"""Pairs of images, judged one by one; only the worst of them are kept as pixels."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from enum import Enum

from penstock.certifying.bins import Distribution
from penstock.certifying.differences import Difference, compare
from penstock.certifying.images import FLOATS, Item, Pixels, channel_axis, shape_text

WORST_KEPT = 6


class Status(str, Enum):
    """What became of an image."""

    EQUAL = "equal"  # bit for bit
    DIFFERS = "differs"
    UNKNOWN = "differs, by an unknown amount"  # hashes differ, and pixels are not at hand
    TYPE = "of another type"
    SHAPE = "of another shape"
    LAYOUT = "in another order of channels"
    ONLY_A = "only in A"
    ONLY_B = "only in B"


@dataclass(frozen=True, slots=True)
class ImageResult:
    """What was found about one image, or about one that only one side has."""

    name: str
    position_a: int | None
    position_b: int | None
    status: Status
    dtype: str
    labels_equal: bool
    nans: tuple[int, int]  # values of A and of B that are not a number
    note: str = ""  # what is different besides values, and what to do about it
    difference: Difference | None = None

    @property
    def equal(self) -> bool:
        """Whether image and label are the same, bit for bit."""
        return self.status == Status.EQUAL and self.labels_equal

    def within(self, tolerance: float) -> bool:
        """Whether the label is the same and no value is further apart than this."""
        if not self.labels_equal:
            return False
        if self.status == Status.EQUAL:
            return True
        difference = self.difference
        if difference is None or difference.not_finite:
            return False
        return difference.largest <= tolerance


@dataclass(frozen=True, slots=True)
class WorstImage:
    """One of the images that are furthest apart, with its pixels."""

    result: ImageResult
    a: Pixels
    b: Pixels


@dataclass(slots=True)
class Comparison:
    """Judges pairs, and keeps what is needed to sum them up."""

    results: list[ImageResult] = field(default_factory=list)
    distribution: Distribution = field(default_factory=Distribution)
    low: float = math.inf  # of the values of images that differ, in floats
    high: float = -math.inf
    _worst: list[tuple[tuple[float, float, int], WorstImage]] = field(default_factory=list)

    def add(self, a: Item | None, b: Item | None) -> None:
        """Judge a pair, of which one may be missing."""
        if a is None or b is None:
            self._add_single(a, b)
            return
        status, note = _judge(a, b)
        difference = None
        if status == Status.EQUAL:
            self.distribution.add_equal(math.prod(a.shape), whole=a.dtype not in FLOATS)
        elif status == Status.DIFFERS:
            pixels = a.pixels(), b.pixels()
            difference, distances = compare(*pixels)
            finite = distances[distances < math.inf]
            self.distribution.add(finite, difference.largest, whole=a.dtype not in FLOATS)
        result = ImageResult(
            _name(a, b),
            a.position,
            b.position,
            status,
            a.dtype,
            a.label == b.label,
            (a.nans, b.nans),
            "; ".join(filter(None, (note, _label_note(a, b)))),
            difference,
        )
        self.results.append(result)
        if difference is not None:
            if a.dtype in FLOATS:
                self.low = min(self.low, difference.low)
                self.high = max(self.high, difference.high)
            self._keep(WorstImage(result, *pixels), difference)

    def worst(self) -> tuple[WorstImage, ...]:
        """Return the images that are furthest apart, the worst first."""
        return tuple(image for _, image in sorted(self._worst, reverse=True, key=_rank))

    def _add_single(self, a: Item | None, b: Item | None) -> None:
        item = a if a is not None else b
        if item is None:
            return
        result = ImageResult(
            item.called,
            None if a is None else a.position,
            None if b is None else b.position,
            Status.ONLY_B if a is None else Status.ONLY_A,
            item.dtype,
            labels_equal=False,
            nans=(0 if a is None else a.nans, 0 if b is None else b.nans),
        )
        self.results.append(result)

    def _keep(self, image: WorstImage, difference: Difference) -> None:
        # The number tells pairs apart that are equally bad: the first one is kept.
        key = float(difference.not_finite), difference.squares, -len(self.results)
        if len(self._worst) == WORST_KEPT and key <= self._worst[0][0]:
            return
        kept = WorstImage(image.result, image.a.copied(), image.b.copied())
        if len(self._worst) == WORST_KEPT:
            heapq.heapreplace(self._worst, (key, kept))
        else:
            heapq.heappush(self._worst, (key, kept))


def _rank(entry: tuple[tuple[float, float, int], WorstImage]) -> tuple[float, float, int]:
    return entry[0]


def _name(a: Item, b: Item) -> str:
    """Return what a pair is called; matched by position, it may be of two different files."""
    if a.name == b.name:
        return a.called
    named = [f"{one.name} in {side}" for one, side in ((a, "A"), (b, "B")) if one.name is not None]
    return f"image {a.position:,} ({', '.join(named)})"


def _judge(a: Item, b: Item) -> tuple[Status, str]:
    """Return what a pair is, and what to do where it cannot be compared."""
    if a.dtype != b.dtype:
        return Status.TYPE, f"A is {a.dtype}, B is {b.dtype}"
    if a.shape != b.shape:
        told = f"A is {shape_text(a.shape)}, B is {shape_text(b.shape)}"
        is_layout = sorted(a.shape) == sorted(b.shape) and _as_first(a.shape) == _as_first(b.shape)
        return (Status.LAYOUT if is_layout else Status.SHAPE), told
    if a.digest == b.digest:
        return Status.EQUAL, ""
    if not a.has_pixels or not b.has_pixels:
        lacking = (
            "A and B" if not a.has_pixels and not b.has_pixels else "B" if a.has_pixels else "A"
        )
        return Status.UNKNOWN, f"the pixels of {lacking} are not at hand"
    return Status.DIFFERS, ""


def _as_first(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape with its channels first."""
    if channel_axis(shape) != 2:
        return shape
    return shape[2], shape[0], shape[1]


def _label_note(a: Item, b: Item) -> str:
    if a.label == b.label:
        return ""
    if a.label is None or b.label is None:
        return f"{'A' if a.label is None else 'B'} has no label"
    if a.shown_label is None or b.shown_label is None or a.shown_label == b.shown_label:
        return "the labels differ"
    return f"the label is {a.shown_label} in A, {b.shown_label} in B"
