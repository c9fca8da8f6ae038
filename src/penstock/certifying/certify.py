"""`certify` and `make_certificate`: what users call."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from penstock.certifying.certificate import Certificate, without_pixels
from penstock.certifying.comparison import Comparison, ImageResult
from penstock.certifying.environment import cpu_in_use, versions_in_use
from penstock.certifying.images import Item
from penstock.certifying.matching import NameMatcher, match_by_position
from penstock.certifying.notes import how_matched, name_notes, nan_notes, side_notes
from penstock.certifying.pixel_file import PixelWriter
from penstock.certifying.result import Certification, Peak
from penstock.certifying.roots import find_roots
from penstock.certifying.sides import LiveSide, Settings
from penstock.certifying.subjects import (
    BATCH_SIZE,
    Asked,
    CertificateSide,
    Side,
    live_side,
    names_of,
    stored_side,
    subject_of,
)
from penstock.errors import CertifyError
from penstock.limits import Limits, obeying_limits
from penstock.loading.loader import Loader
from penstock.progress import ProgressBar
from penstock.translation.delivery import AcceleratedLoader

MATCHES = ("name", "position")


@obeying_limits
def certify(
    a: Any,
    b: Any,
    *,
    transform: Any = None,
    transform_b: Any = None,
    images: int | str | None = None,
    batch_size: int = BATCH_SIZE,
    seed: int | None = None,
    epoch: int | None = None,
    tolerance: float | None = None,
    match: str | None = None,
    labels: bool = True,
    peak: float | None = None,
    pixels: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
) -> Certification:
    """Compare the images of two pipelines one by one: are they equal, or how far apart?

    Args:
        a: A torch DataLoader or Dataset, a penstock Loader, any iterable of batches, or a function
            that returns one of these; a data set as `open_data` reads it, with a `transform`; or a
            certificate, or the path of one.
        b: The other side, likewise.
        transform: What is done to the images of a side that is a data set; None leaves them as
            they are stored.
        transform_b: The same for B, if it is another one.
        images: The first so many images of each side are compared; "all" takes every one. None
            takes as many as a certificate has, or else 256.
        batch_size: Images in a batch of a side that is a data set.
        seed: Seeds torch, NumPy and Python's `random` before each side. None takes a
            certificate's, or else 0.
        epoch: Given to loaders and samplers with a `set_epoch`. None is as with `seed`.
        tolerance: The largest difference of any value that `passed` allows.
        match: "name" or "position"; None takes names where both sides know them for certain.
        labels: Whether to compare what goes with the images.
        peak: What PSNR of floats is relative to: the range of their values, such as 1.0. None
            takes that of the images that differ.
        pixels: A file to write the pixels of A into, for the folder of its certificate.
        progress: Whether to show a bar; None does on a terminal.
        limits: The largest inputs that are read.
    """
    _check_numbers(tolerance, peak)
    if match is not None and match not in MATCHES:
        raise CertifyError(f"certify: match must be 'name' or 'position', got {match!r}.")
    asked = Asked(images, seed, epoch, labels, match != "position", batch_size)
    with ExitStack() as opened:
        other = transform if transform_b is None else transform_b
        subjects = subject_of(a, "A", transform), subject_of(b, "B", other)
        _check_apart(subjects[0].value, subjects[1].value)
        stored = [stored_side(subject, opened) for subject in subjects]
        settings = asked.settings([side.certificate for side in stored if side is not None])
        sides = [
            side or live_side(subject, settings, batch_size, opened)
            for subject, side in zip(subjects, stored, strict=True)
        ]
        if pixels is not None and isinstance(sides[0], CertificateSide):
            raise CertifyError("certify: pixels are written of A, but A is a certificate already.")
        return _compare(sides[0], sides[1], settings, match, tolerance, peak, pixels, progress)


@obeying_limits
def make_certificate(
    a: Any,
    *,
    transform: Any = None,
    images: int | str | None = None,
    batch_size: int = BATCH_SIZE,
    seed: int | None = None,
    epoch: int | None = None,
    labels: bool = True,
    pixels: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    limits: Limits | None = None,  # noqa: ARG001 (obeying_limits reads it)
) -> Certificate:
    """Run one side and return its certificate; all arguments are those of `certify`."""
    asked = Asked(images, seed, epoch, labels, named=True, batch_size=batch_size)
    settings = asked.settings([])
    subject = subject_of(a, "A", transform)
    with ExitStack() as opened:
        if stored_side(subject, opened) is not None:
            raise CertifyError(f"{subject.title}: is a certificate already. Name a second side.")
        side = live_side(subject, settings, batch_size, opened)
        kept = _Kept(pixels, opened)
        bar = opened.enter_context(ProgressBar("certifying", unit="images", show=progress))
        for _ in kept.passing(side.open()):
            bar.advance(total=side.total)
        side.check_reproducible()
        return kept.certificate(side)


def _check_apart(a: Any, b: Any) -> None:
    """Refuse one loader as both sides: they take turns, and would take each other's batches."""
    is_loader = hasattr(a, "__iter__") and not hasattr(a, "__getitem__")
    if a is b and is_loader and not isinstance(a, (Loader, AcceleratedLoader)):
        raise CertifyError(
            f"certify: A and B are the same {type(a).__name__}, which cannot run twice at a time. "
            "Give a function that makes one, or compare it with a certificate of itself."
        )


def _check_numbers(tolerance: float | None, peak: float | None) -> None:
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise CertifyError(f"certify: tolerance must be 0 or more, got {tolerance}.")
    if peak is not None and not 0 < peak < math.inf:
        raise CertifyError(f"certify: peak must be above 0, got {peak}.")


class _Kept:
    """What a certificate needs of the images that pass."""

    def __init__(self, pixels: str | os.PathLike[str] | None, opened: ExitStack) -> None:
        self._images: list[Item] = []
        self._name = None if pixels is None else os.path.basename(os.fspath(pixels))
        self._writer = None if pixels is None else opened.enter_context(PixelWriter(pixels))

    def passing(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yield the images, and note each."""
        for item in items:
            self._images += without_pixels([item])
            if self._writer is not None:
                self._writer.add(item)
            yield item

    def certificate(self, side: LiveSide) -> Certificate:
        """Return the certificate of a side that has run."""
        if not self._images:
            raise CertifyError(f"{side.called}: gives no images, so there is nothing to certify.")
        settings = side.settings
        return Certificate(
            side.title,
            side.kind,
            side.transform,
            settings.seed,
            settings.epoch,
            settings.images,
            settings.labels,
            side.is_reproducible,
            versions_in_use(),
            cpu_in_use(),
            self._name,
            tuple(self._images),
        )


def _compare(
    a: Side,
    b: Side,
    settings: Settings,
    match: str | None,
    tolerance: float | None,
    peak: float | None,
    pixels: str | os.PathLike[str] | None,
    progress: bool | None,
) -> Certification:
    comparison, matcher = Comparison(), NameMatcher()
    with ExitStack() as opened:
        kept = _Kept(pixels, opened), _Kept(None, opened)
        streams = [
            one.passing(side.open() if isinstance(side, LiveSide) else side.open(settings))
            for one, side in zip(kept, (a, b), strict=True)
        ]
        by_name, how = how_matched(a, b, match)
        if by_name:
            a.root, b.root = find_roots(names_of(a), names_of(b))
        pairs = matcher.match(*streams) if by_name else match_by_position(*streams)
        total = max((side.total or 0 for side in (a, b) if isinstance(side, LiveSide)), default=0)
        bar = opened.enter_context(ProgressBar("comparing", unit="images", show=progress))
        for pair in pairs:
            comparison.add(*pair)
            bar.advance(total=total or None)
        for side in (a, b):
            if isinstance(side, LiveSide):
                side.check_reproducible()
        certificates = [
            one.certificate(side) if isinstance(side, LiveSide) else side.certificate
            for one, side in zip(kept, (a, b), strict=True)
        ]
    notes = [*side_notes(a, "A", settings), *side_notes(b, "B", settings)]
    notes += [*name_notes(matcher, comparison.results), *nan_notes(comparison.results)]
    return Certification(
        a.title,
        b.title,
        certificates[0],
        certificates[1],
        how,
        tuple(sorted(comparison.results, key=_in_order)),
        tuple(notes),
        tolerance,
        settings.labels,
        _peak(comparison, peak),
        comparison.distribution,
        comparison.worst(),
    )


def _in_order(result: ImageResult) -> tuple[bool, int]:
    if result.position_a is not None:
        return False, result.position_a
    return True, result.position_b or 0


def _peak(comparison: Comparison, stated: float | None) -> Peak | None:
    if comparison.high < comparison.low:
        return None  # no floats that differ
    value = comparison.high - comparison.low if stated is None else stated
    return Peak(value, is_stated=stated is not None)
