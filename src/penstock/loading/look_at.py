"""What can be known of samples before they are decoded, for predicting what that will cost.

Indices and headers are read, never pixels. What cannot be read counts as a typical photo: whoever
loads the sample is told what is wrong with it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from penstock._core import Route, Storage, jpeg_header
from penstock.data.packed import PackedSource
from penstock.geometry import Floats, Ints, Sizes
from penstock.planner.decode_work import Sources
from penstock.sources import Source, has_paths

# Enough for the header of nearly every JPEG, thumbnails included.
_HEAD_BYTES = 1 << 16

# Places in the record of tiles: docs/format-tiles.md.
_COLOUR_AT, _FACTORS_AT, _NEXT_FACTORS = 1, 18, 5
_GRAY = 0


def look_at(source: Source, samples: Ints, sizes: Sizes) -> Sources:
    """What is known of these samples, whose sizes are known already."""
    known = Sources.typical(sizes, are_files=has_paths(source))
    if len(samples) == 0 or samples.max() >= len(source):
        return known
    if isinstance(source, PackedSource):
        source.prepare(samples)
        records = source.records(samples)
        known = replace(
            known,
            storages=records.storages.astype(np.int64),
            encoded_bytes=records.sizes.astype(np.float64),
        )
    routes, lengths = known.routes.copy(), known.encoded_bytes.copy()
    per_pixel = known.values_per_pixel.copy()
    for row, sample in enumerate(samples.tolist()):
        with suppress(Exception):  # a source may be the user's own
            if known.storages[row] == Storage.DCT:
                per_pixel[row] = _of_tiles(_head(source, sample))
            elif known.storages[row] == Storage.JPEG:
                head, length = _read_head(source, sample)
                routes[row], per_pixel[row] = _of_jpeg(head, per_pixel[row])
                lengths[row] = length or lengths[row]
    return replace(known, routes=routes, encoded_bytes=lengths, values_per_pixel=per_pixel)


def _read_head(source: Source, sample: int) -> tuple[bytes, int]:
    """The beginning of a file, and its length; 0 if that is known already."""
    if isinstance(source, PackedSource):
        return _head(source, sample), 0
    with source.open(sample) as file:
        head = file.read(_HEAD_BYTES)
        return head, file.seek(0, 2)


def _head(source: Source, sample: int) -> bytes:
    assert isinstance(source, PackedSource)  # noqa: S101  only they have such storages
    file, place = source.packed.locate(sample)
    offset, size = int(file.facts("offset")[place]), int(file.facts("size")[place])
    return file.stored(offset, min(size, _HEAD_BYTES)).tobytes()


def _of_jpeg(head: bytes, usual: float) -> tuple[Route, float]:
    header = jpeg_header(head)
    if header["reason"] == "not a JPEG":
        return Route.PILLOW, usual
    if not header["height"]:  # it lies further on
        return Route.BASELINE, usual
    is_plain = not header["progressive"] and not header["arithmetic"]
    return Route.BASELINE if is_plain else Route.LIBJPEG, _values_per_pixel(header["sampling"])


def _of_tiles(head: bytes) -> float:
    count = 1 if head[_COLOUR_AT] == _GRAY else 3
    ends = _FACTORS_AT + count * _NEXT_FACTORS
    return _values_per_pixel([divmod(byte, 16) for byte in head[_FACTORS_AT:ends:_NEXT_FACTORS]])


def _values_per_pixel(sampling: list[tuple[int, int]]) -> float:
    counts: Floats = np.array(sampling, dtype=np.float64).prod(axis=1)
    if counts.min() < 1:
        raise ValueError(f"sampling factors {sampling}: some are 0, as in no image")
    return float(counts.sum() / counts.max())
