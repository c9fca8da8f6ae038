"""The photos, and the samples that every format gets: the same bytes in the same order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from penstock.demo.sample_set import cached_folder, make_sample_set
from penstock.errors import SourceError
from penstock.packing.records import JPEG_START


class Photo(NamedTuple):
    """A JPEG file and the number of its folder."""

    path: str
    label: int


class Sample(NamedTuple):
    """What is written once into each format."""

    name: str  # without an ending, the same in all formats
    label: int
    data: bytes


@dataclass(frozen=True, slots=True)
class PhotoSet:
    """Photos, and how many samples are made of them: each is repeated as often as is needed."""

    photos: tuple[Photo, ...]
    samples: int
    distinct: int  # photos with different bytes
    digest: str  # of all bytes and labels

    def each(self) -> Iterator[Sample]:
        """Yield the samples in order."""
        for number in range(self.samples):
            photo = self.photos[number % len(self.photos)]
            yield Sample(f"{number:08}", photo.label, Path(photo.path).read_bytes())


def open_photos(folder: Path | None, images: int, samples: int) -> PhotoSet:
    """Return so many photos of a folder, evenly chosen; without a folder, photos made for this."""
    if folder is None:
        folder = make_sample_set(cached_folder(images), images=images)
    found = _find(folder)
    count = min(images, len(found))
    chosen = [found[number * len(found) // count] for number in range(count)]
    digests = [hashlib.sha256(Path(photo.path).read_bytes()).digest() for photo in chosen]
    labels = ",".join(str(photo.label) for photo in chosen)
    return PhotoSet(
        tuple(chosen),
        max(samples, len(chosen)),
        len(set(digests)),
        hashlib.sha256(b"".join(digests) + labels.encode()).hexdigest()[:16],
    )


def _find(folder: Path) -> Sequence[Photo]:
    """Return all JPEGs below a folder; a label is the number of the folder that a photo lies in."""
    paths = sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith((".jpg", ".jpeg"))
    )
    jpegs = [path for path in paths if _is_jpeg(path)]
    if not jpegs:
        raise SourceError(
            f"{folder}: no JPEG files in it or below it. Name another folder with --data, or leave "
            "it out to use photos that are made for this."
        )
    folders = sorted({os.path.dirname(path) for path in jpegs})
    numbers = {name: number for number, name in enumerate(folders)}
    return [Photo(path, numbers[os.path.dirname(path)]) for path in jpegs]


def _is_jpeg(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(JPEG_START)) == JPEG_START
