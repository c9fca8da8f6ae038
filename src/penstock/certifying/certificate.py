"""A certificate: the hashes of the images that a pipeline gave, and what ran to give them.

The file is JSON with a line for each image, so that `diff` shows what changed. The same run writes
the same bytes. It is no signature: it says what came out, not who says so.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from penstock.certifying import strict_json as strict
from penstock.certifying.images import DTYPES, MOST_DIMENSIONS, Item
from penstock.errors import CertifyError, OutputError
from penstock.regular_file import open_regular

FORMAT = "penstock certificate"
VERSION = 1
_BEGINNING_BYTES = 200
_LONGEST_SIDE = 1 << 31


@dataclass(frozen=True)
class Certificate:
    """The images of a run, each by its hash; `save` writes it, `read` reads it and checks it."""

    subject: str  # what ran, as the user gave it
    kind: str  # of what class that is
    transform: str | None  # as the user gave it
    seed: int
    epoch: int
    asked: int | None  # images that were asked for; None is all
    labels: bool  # whether they were looked at
    reproducible: bool | None  # whether the first batch came out the same twice; None: not known
    versions: Mapping[str, str]
    cpu: Mapping[str, str]
    pixels: str | None  # name of the file with the pixels, in the same folder
    images: tuple[Item, ...]

    @cached_property
    def content(self) -> str:
        """One hash over all images and labels, in their order, whatever their names."""
        hashed = hashlib.sha256()
        for image in self.images:
            label = image.label or "no label"
            hashed.update(f"{image.digest} {label}\n".encode("ascii"))
        return hashed.hexdigest()

    @cached_property
    def seal(self) -> str:
        """One hash over everything that the certificate says."""
        return hashlib.sha256("\n".join(self._lines()).encode("utf-8")).hexdigest()

    @property
    def named(self) -> bool:
        """Whether images have names."""
        return bool(self.images) and self.images[0].name is not None

    def to_text(self) -> str:
        """Return what `save` writes."""
        return "{\n" + ",\n".join([*self._lines(), f'"seal": "{self.seal}"']) + "\n}\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate into a file."""
        try:
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(self.to_text())
        except OSError as error:
            raise OutputError(
                f"{os.fspath(path)}: cannot write the certificate: {error.strerror}. Name a file "
                "in a folder that you may write to."
            ) from error

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Certificate:
        """Return the certificate in a file; CertifyError unless it is exactly as it was written."""
        place = os.fspath(path)
        return _from_json(strict.read_json(path), place)

    def _lines(self) -> Iterator[str]:
        said = {
            "format": FORMAT,
            "version": VERSION,
            "subject": self.subject,
            "kind": self.kind,
            "transform": self.transform,
            "seed": self.seed,
            "epoch": self.epoch,
            "asked": self.asked,
            "labels": self.labels,
            "reproducible": self.reproducible,
            "versions": self.versions,
            "cpu": self.cpu,
            "pixels": self.pixels,
        }
        for name, value in said.items():
            yield f'"{name}": {json.dumps(value, ensure_ascii=False)}'
        images = ",\n".join(_image_line(image) for image in self.images)
        yield f'"images": [\n{images}\n]'
        yield f'"content": "{self.content}"'


def is_certificate(path: str) -> bool:
    """Whether a file says that it is a certificate; COCO's data sets are JSON, too."""
    try:
        with open_regular(path) as file:
            return FORMAT.encode("ascii") in file.read(_BEGINNING_BYTES)
    except OSError:
        return False


def without_pixels(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return what a certificate keeps of images."""
    return tuple(replace(item, shown_label=None, lent=None, load=None) for item in items)


def _image_line(image: Item) -> str:
    said: dict[str, Any] = {} if image.name is None else {"name": image.name}
    said |= {"shape": image.shape, "dtype": image.dtype, "hash": image.digest, "label": image.label}
    if image.nans:
        said["nans"] = image.nans
    return json.dumps(said, ensure_ascii=False)


def _from_json(given: Any, place: str) -> Certificate:
    fields = strict.Fields(given, place)
    fields.take("format", lambda value: value if value == FORMAT else None, f'"{FORMAT}"')
    version = fields.take("version", strict.as_whole, "a whole number")
    if version != VERSION:
        raise CertifyError(
            f"{place}: a certificate of version {version}; this penstock reads {VERSION}. "
            "Upgrade penstock, or make the certificate anew."
        )
    images = fields.take(
        "images", lambda value: value if isinstance(value, list) else None, "a list"
    )
    certificate = Certificate(
        subject=fields.take("subject", strict.as_text, "text"),
        kind=fields.take("kind", strict.as_text, "text"),
        transform=fields.take_or_none("transform", strict.as_text, "text"),
        seed=fields.take("seed", strict.as_whole, "a whole number"),
        epoch=fields.take("epoch", strict.as_whole, "a whole number"),
        asked=fields.take_or_none("asked", strict.as_whole, "a whole number"),
        labels=fields.take("labels", strict.as_truth, "true or false"),
        reproducible=fields.take_or_none("reproducible", strict.as_truth, "true or false"),
        versions=fields.take("versions", strict.as_texts, "an object of texts"),
        cpu=fields.take("cpu", strict.as_texts, "an object of texts"),
        pixels=fields.take_or_none("pixels", _as_file_name, "the name of a file"),
        images=tuple(
            _read_image(image, number, f"{place}: image {number:,}")
            for number, image in enumerate(images)
        ),
    )
    content = fields.take("content", strict.as_digest, "a SHA-256")
    seal = fields.take("seal", strict.as_digest, "a SHA-256")
    fields.end()
    if not certificate.images:
        raise CertifyError(f"{place}: has no images. Make the certificate anew.")
    if len({image.name is None for image in certificate.images}) > 1:
        raise CertifyError(f"{place}: some of its images have names, and some have none.")
    if content != certificate.content or seal != certificate.seal:
        which = "content" if content != certificate.content else "seal"
        raise CertifyError(
            f"{place}: its {which} does not fit what it says, so somebody changed it, or it was "
            "damaged. Make the certificate anew."
        )
    return certificate


def _read_image(given: Any, position: int, where: str) -> Item:
    fields = strict.Fields(given, where)
    is_named = isinstance(given, Mapping) and "name" in given
    image = Item(
        position=position,
        name=fields.take("name", strict.as_text, "text") if is_named else None,
        shape=fields.take("shape", _as_shape, "a list of two or three sides"),
        dtype=fields.take(
            "dtype", lambda value: value if value in DTYPES else None, "a known type"
        ),
        digest=fields.take("hash", strict.as_digest, "a SHA-256"),
        label=fields.take_or_none("label", strict.as_digest, "a SHA-256"),
        nans=fields.take("nans", strict.as_whole, "a whole number") if "nans" in given else 0,
    )
    fields.end()
    if image.nans > math.prod(image.shape):
        raise CertifyError(f"{where}: 'nans' is {image.nans:,}, but it has fewer values.")
    return image


def _as_shape(given: Any) -> tuple[int, ...] | None:
    if not isinstance(given, list) or not 2 <= len(given) <= MOST_DIMENSIONS:
        return None
    if any(strict.as_whole(side) is None or not 0 < side < _LONGEST_SIDE for side in given):
        return None
    return tuple(given)


def _as_file_name(given: Any) -> str | None:
    """Read the name of a file in the same folder: a certificate must not lead anywhere else."""
    name = strict.as_text(given)
    if not name or name in {".", ".."} or "\0" in name:
        return None
    return name if os.path.basename(name) == name and "\\" not in name else None
