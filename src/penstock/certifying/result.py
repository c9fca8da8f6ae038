"""What `penstock.certify` returns."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.certifying import wording
from penstock.certifying.bins import Bin, Distribution
from penstock.certifying.certificate import Certificate
from penstock.certifying.comparison import ImageResult, Status, WorstImage
from penstock.certifying.differences import peak_of, psnr_db
from penstock.certifying.images import FLOATS


@dataclass(frozen=True, slots=True)
class Peak:
    """What PSNR is relative to for floats, whose type has no largest value."""

    value: float
    is_stated: bool  # by the user; otherwise the range of the images that differ


@dataclass(frozen=True)
class Certification:
    """Two pipelines, compared image by image: see `equal`, `verdict` and `images`."""

    title_a: str
    title_b: str
    certificate: Certificate  # of A
    certificate_b: Certificate
    matched: str  # how images were matched, in a sentence
    images: tuple[ImageResult, ...]  # in the order of A, then those that only B has
    notes: tuple[str, ...]
    tolerance: float | None
    labels_compared: bool
    peak: Peak | None
    distribution: Distribution
    worst: tuple[WorstImage, ...]

    @property
    def equal(self) -> bool:
        """Whether both sides have the same images with the same labels, bit for bit."""
        return all(result.equal for result in self.images)

    @property
    def passed(self) -> bool:
        """Whether that is so, or everything is within the tolerance that was given."""
        if self.tolerance is None:
            return self.equal
        return all(result.within(self.tolerance) for result in self.images)

    @property
    def has_labels(self) -> bool:
        """Whether there were labels to compare."""
        return any(image.label is not None for image in self.certificate.images)

    @property
    def verdict(self) -> str:
        """What was found, in plain English."""
        return wording.verdict(self)

    @property
    def counts(self) -> dict[str, int]:
        """How many images have which status."""
        return dict(Counter(result.status.value for result in self.images))

    @property
    def peak_said(self) -> str:
        """What PSNR is relative to, in words."""
        types = {result.dtype for result in self.images if result.difference is not None}
        said = [f"{peak_of(dtype):g} for {dtype}" for dtype in sorted(types - set(FLOATS))]
        if self.peak is not None:
            reason = "as stated" if self.peak.is_stated else "the range of the images that differ"
            said.append(f"{self.peak.value:.4g}, {reason}")
        return " and ".join(said)

    def psnr(self, result: ImageResult) -> float | None:
        """Return the PSNR of an image in dB; None if it is equal, or has no figures."""
        if result.difference is None or result.difference.not_finite:
            return None
        peak = peak_of(result.dtype)
        if peak is None:
            peak = 0.0 if self.peak is None else self.peak.value
        return psnr_db(result.difference.squares, peak)

    def ranked(self) -> Sequence[ImageResult]:
        """Return the images that are not equal, the worst first; those without figures last."""
        return sorted((result for result in self.images if not result.equal), key=_rank)

    def bins(self) -> list[Bin]:
        """Return the distribution of the differences: of whole numbers, or else of floats."""
        return self.distribution.bins(whole=True) or self.distribution.bins(whole=False)

    def lines(self) -> list[str]:
        """Return a summary for a terminal."""
        return list(wording.told_lines(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate of A."""
        self.certificate.save(path)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a report with the worst images side by side: one file that needs no network."""
        from penstock.certifying.page import write_page

        write_page(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON; of equal images only their number."""
        return {
            "equal": self.equal,
            "passed": self.passed,
            "verdict": self.verdict,
            "a": self.title_a,
            "b": self.title_b,
            "matched": self.matched,
            "notes": list(self.notes),
            "tolerance": self.tolerance,
            "images": len(self.images),
            "counts": self.counts,
            "peak": self.peak_said,
            "content": [self.certificate.content, self.certificate_b.content],
            "distribution": [asdict(entry) for entry in self.bins()],
            "different": [self._image_dict(result) for result in self.ranked()],
        }

    def _image_dict(self, result: ImageResult) -> dict[str, Any]:
        found = asdict(result) | {"status": result.status.value, "psnr_db": self.psnr(result)}
        return {name: _finite(value) for name, value in found.items()}


def _finite(given: Any) -> Any:
    """Return the same with None for NaN and infinity, for which JSON has no words."""
    if isinstance(given, dict):
        return {name: _finite(value) for name, value in given.items()}
    return None if isinstance(given, float) and not math.isfinite(given) else given


def _rank(result: ImageResult) -> tuple[bool, float, float, int]:
    difference = result.difference
    place = result.position_a if result.position_a is not None else result.position_b or 0
    if difference is None:
        return result.status == Status.EQUAL, 1.0, 0.0, place
    return False, 0.0 if difference.not_finite else 0.5, -difference.squares, place
