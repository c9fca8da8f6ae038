"""The sizes of all images of a data set, from its index or from the headers of its files.

Pixels are never decoded. Sizes are those that transforms see: as stored, not turned by EXIF.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock._core import jpeg_header
from penstock.data.packed import PackedSource
from penstock.errors import DecodeError
from penstock.geometry import Sizes
from penstock.progress import ProgressBar
from penstock.regular_file import open_regular
from penstock.resources import Pool, raise_if_refused
from penstock.sources import Source, has_paths

_HEAD_BYTES = 1 << 14  # enough for the header of most JPEGs; Pillow reads the others
_THREADS = 16  # they wait for the disk, so they may be more than there are cores
_FILES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ImageSizes:
    """One size per sample; 0x0 where it cannot be read, with a reason for the first of those."""

    height: npt.NDArray[np.int32]
    width: npt.NDArray[np.int32]
    first_reason: str | None = None

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which sizes could be read."""
        return (self.height > 0) & (self.width > 0)

    def as_sizes(self) -> Sizes:
        """The sizes as transforms take them."""
        return Sizes(self.height.astype(np.int64), self.width.astype(np.int64))


def read_image_sizes(source: Source) -> ImageSizes:
    """Return the sizes of all images; reading headers shows its progress if it takes long."""
    if isinstance(source, PackedSource):
        return _of_packed(source)
    if has_paths(source):
        paths = source.paths
        return _read_all(
            len(source),
            lambda samples: [lambda path=path: open_regular(path) for path in paths(samples)],
            source.name,
        )
    open_sample = source.open
    return _read_all(
        len(source),
        lambda samples: [lambda sample=s: open_sample(sample) for s in samples.tolist()],
        source.name,
    )


def read_file_sizes(paths: list[str]) -> ImageSizes:
    """Return the sizes of these image files."""
    return _read_all(
        len(paths),
        lambda samples: [lambda path=paths[s]: open_regular(path) for s in samples.tolist()],
        lambda sample: paths[sample],
    )


def _of_packed(source: PackedSource) -> ImageSizes:
    files = source.packed.files
    height = np.concatenate([file.facts("height").astype(np.int32) for file in files])
    width = np.concatenate([file.facts("width").astype(np.int32) for file in files])
    bad = np.flatnonzero((height < 1) | (width < 1))
    if not len(bad):
        return ImageSizes(height, width)
    height[bad] = width[bad] = 0
    reason = f"{source.name(int(bad[0]))}: the index has no size for it: run penstock verify"
    return ImageSizes(height, width, reason)


def _read_all(
    count: int,
    openers: Callable[[npt.NDArray[np.int64]], list[Callable[..., BinaryIO]]],
    name: Callable[[int], str],
) -> ImageSizes:
    sides = np.zeros((2, count), dtype=np.int32)
    reasons: dict[int, str] = {}

    def read(start: int) -> int:
        samples = np.arange(start, min(start + _FILES_AT_ONCE, count))
        for sample, opener in zip(samples.tolist(), openers(samples), strict=True):
            try:
                sides[:, sample] = _size_in(opener)
            except Exception as error:  # noqa: BLE001 (a source may be the user's own)
                raise_if_refused(error, name(sample))
                reasons[sample] = f"{name(sample)}: its size cannot be read ({error})"
        return len(samples)

    with (
        ProgressBar("reading image sizes", total=count, unit="images") as bar,
        Pool(_THREADS, "penstock-sizes") as pool,
    ):
        for done in pool.map(read, range(0, count, _FILES_AT_ONCE)):
            bar.advance(done)
    return ImageSizes(sides[0], sides[1], reasons[min(reasons)] if reasons else None)


def _size_in(opener: Callable[..., BinaryIO]) -> tuple[int, int]:
    with opener() as file:
        head = file.read(_HEAD_BYTES)
        if head[:2] == b"\xff\xd8":
            header: dict[str, Any] = jpeg_header(head)
            if header["height"] > 0 and header["width"] > 0:
                return header["height"], header["width"]
        file.seek(0)
        with PIL.Image.open(file) as image:
            return image.height, image.width


def require_sizes(sizes: ImageSizes, advice: str) -> None:
    """Raise DecodeError if some size is unknown."""
    unknown = int(np.count_nonzero(~sizes.known))
    if unknown:
        more = f", nor can those of {unknown - 1:,} more" if unknown > 1 else ""
        raise DecodeError(f"{sizes.first_reason}{more}. {advice}")
