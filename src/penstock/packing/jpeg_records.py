"""JPEGs as records and back; the only user of the core's code for that."""

from __future__ import annotations

from typing import NamedTuple

from penstock import _core
from penstock.errors import CoreError, PackError


class JpegRecord(NamedTuple):
    """What the core makes of a JPEG file."""

    storage: str  # "dct", or "jpeg" if the original bytes are kept
    data: bytes
    height: int
    width: int
    orientation: int
    identical: bool  # whether `rebuild_jpeg` gives back the very same file
    reason: str  # why the storage is not "dct", or the file not identical


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Return height and width as a JPEG file's header says, 0 if it says nothing."""
    header = _core.jpeg_header(data)
    return header["height"], header["width"]


def encode_jpeg(data: bytes) -> JpegRecord:
    """Return the record of a JPEG file. Runs without Python's lock."""
    storage, record, facts, reason = _core.encode_record(data)
    return JpegRecord(
        storage, record, facts["height"], facts["width"], facts["orientation"],
        storage == "jpeg" or bool(facts["identical"]), reason,
    )  # fmt: skip


def rebuild_jpeg(record: bytes) -> bytes:
    """Return the file of a `dct` record; PackError, without the sample's name, if it is damaged."""
    try:
        return _core.rebuild_file(record)
    except CoreError:  # not about this record: a wrong PENSTOCK_SIMD, say
        raise
    except ValueError as error:
        raise PackError(f"its coefficients cannot be read ({error})") from error
