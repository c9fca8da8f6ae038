"""A side as somebody gives it, and what it becomes: something that runs here, or ran before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from penstock.certifying.certificate import Certificate, is_certificate
from penstock.certifying.images import Item
from penstock.certifying.pixel_file import PixelFile, open_pixels
from penstock.certifying.sides import LiveSide, Settings
from penstock.data.column_source import ColumnSource
from penstock.data.open_data import open_data
from penstock.errors import CertifyError
from penstock.loading.loader import Loader
from penstock.packing.datasets.hugging_face import is_hugging_face
from penstock.printable import printable
from penstock.rng import check_epoch
from penstock.sources import Source

IMAGES = 256  # what is compared unless somebody asks for more
BATCH_SIZE = 32
ALL = "all"


@dataclass(frozen=True, slots=True)
class Subject:
    """A side as it was given, and what the user calls it."""

    value: Any
    title: str
    letter: str  # which side it is: A or B
    transform: Any = None
    transform_title: str | None = None


@dataclass(slots=True, eq=False)
class CertificateSide:
    """A side that ran before."""

    certificate: Certificate
    title: str
    pixels: PixelFile | None
    root: str = ""  # what names begin with that the other side's do not

    def open(self, settings: Settings) -> Iterator[Item]:
        """Return its images, with their pixels if these are there."""
        for image in islice(self.certificate.images, settings.images):
            yield replace(
                image,
                name=None if image.name is None else image.name.removeprefix(self.root),
                label=image.label if settings.labels else None,
                load=None if self.pixels is None else self.pixels.loader(image),
            )


Side = LiveSide | CertificateSide


def names_of(side: Side) -> list[str]:
    """Return the names of a side's images, which are known once it is open."""
    if isinstance(side, LiveSide):
        return side.names.listed()
    return [image.name for image in side.certificate.images if image.name is not None]


@dataclass(frozen=True, slots=True)
class Asked:
    """How sides are to be run, where that was said."""

    images: int | str | None
    seed: int | None
    epoch: int | None
    labels: bool
    named: bool
    batch_size: int

    def settings(self, certificates: Sequence[Certificate]) -> Settings:
        """Return how sides are run: as asked, or else as the first certificate was."""
        first = certificates[0] if certificates else None
        seed = self.seed if self.seed is not None else first.seed if first else 0
        epoch = self.epoch if self.epoch is not None else first.epoch if first else 0
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
            raise CertifyError(f"certify: seed must be a whole number of 0 or more, got {seed!r}.")
        if self.batch_size < 1:
            raise CertifyError(f"certify: batch_size must be 1 or more, got {self.batch_size}.")
        labels = self.labels and all(certificate.labels for certificate in certificates)
        return Settings(
            seed, check_epoch("certify", epoch), self._most(first), labels=labels, named=self.named
        )

    def _most(self, first: Certificate | None) -> int | None:
        if self.images is None:
            return IMAGES if first is None else first.asked
        if self.images == ALL:
            return None
        if isinstance(self.images, bool) or not isinstance(self.images, int) or self.images < 1:
            raise CertifyError(
                f"certify: images must be a whole number of 1 or more, or 'all', got "
                f"{self.images!r}."
            )
        return self.images


def subject_of(given: Any, letter: str, transform: Any) -> Subject:
    """Return a side with a name for it."""
    if isinstance(given, Subject):
        return given
    if isinstance(given, (str, os.PathLike)):
        title = os.fspath(given)
    elif isinstance(given, Certificate):
        title = given.subject
    else:
        title = getattr(given, "__qualname__", type(given).__qualname__)
    said = None if transform is None else _told(transform)
    return Subject(given, printable(title), letter, transform, said)


def _told(transform: Any) -> str:
    """Return what a transform is; without addresses, which differ from run to run."""
    text = repr(transform)
    return type(transform).__name__ if " at 0x" in text else printable(text)


def stored_side(subject: Subject, opened: ExitStack) -> CertificateSide | None:
    """Return a side that is a certificate; None for any other."""
    if isinstance(subject.value, Certificate):
        return CertificateSide(subject.value, subject.title, None)
    if not isinstance(subject.value, (str, os.PathLike)):
        return None
    path = os.fspath(subject.value)
    if not is_certificate(path):
        return None
    certificate = Certificate.read(path)
    pixels = open_pixels(certificate, path)
    if pixels is not None:
        opened.callback(pixels.close)
    return CertificateSide(certificate, f"{subject.title} ({certificate.subject})", pixels)


def live_side(subject: Subject, settings: Settings, batch_size: int, opened: ExitStack) -> LiveSide:
    """Return a side that runs here; of data, with a loader of ours."""
    value = subject.value
    if not _is_data(value):
        return LiveSide(value, subject.title, subject.letter, settings)
    loader = Loader(
        open_data(value),
        # Images as they are stored have sizes of their own.
        batch_size=1 if subject.transform is None else batch_size,
        transform=subject.transform,
        seed=settings.seed,
        output="numpy",
        rank=0,  # the whole of it, whatever started this process
        world_size=1,
    )
    opened.callback(loader.close)
    return LiveSide(
        loader, subject.title, subject.letter, settings, transform=subject.transform_title
    )


def _is_data(value: Any) -> bool:
    if isinstance(value, (str, os.PathLike)) or is_hugging_face(value):
        return True
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(entry, (str, os.PathLike)) for entry in value)
    return isinstance(value, (ColumnSource, Source))
