"""Values of user columns as the bytes that are stored, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from penstock.errors import PackError
from penstock.packing.format import MOST_USER_COLUMNS, check_column, element_type
from penstock.packing.items import Column


def check_schema(columns: Sequence[Column]) -> None:
    """Raise PackError for columns that cannot be stored side by side."""
    for column in columns:
        check_column(column, f"column {column.name!r}")
    if len(columns) > MOST_USER_COLUMNS:
        raise PackError(
            f"columns: {len(columns):,} are declared, at most {MOST_USER_COLUMNS:,} can be stored. "
            "Put some of them together into one column."
        )
    counts = Counter(column.name for column in columns)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise PackError(f"column {twice[0]!r}: declared twice. Rename one of them.")


def encode_values(columns: Sequence[Column], values: Mapping[str, Any]) -> list[bytes]:
    """Return the stored bytes of one sample's values, in the order of the columns."""
    if len(values) > len(columns) or any(column.name not in values for column in columns):
        declared = {column.name for column in columns}
        missing, unknown = sorted(declared - set(values)), sorted(set(values) - declared)
        raise PackError(
            f"its columns are not those declared (missing: {', '.join(missing) or 'none'}; "
            f"not declared: {', '.join(unknown) or 'none'})"
        )
    return [encode_value(column, values[column.name]) for column in columns]


def encode_value(column: Column, value: Any) -> bytes:
    """Return the stored bytes of one value; PackError, without the sample's name, if it is odd."""
    if column.kind == "bytes":
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise PackError(f"column {column.name!r} needs bytes, got {type(value).__name__}")
        return bytes(value)
    if column.kind == "text":
        return _encode_text(column, value)
    wanted = element_type(column)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:  # such as rows of different lengths
        raise PackError(f"column {column.name!r} needs {column.dtype}, got no array") from error
    if column.kind == "ragged" and array.size == 0:
        return b""
    rows_fit = column.kind == "ragged" and array.ndim >= 1 and array.shape[1:] == column.shape
    if not (rows_fit if column.kind == "ragged" else array.shape == column.shape):
        rows = "(any, " if column.kind == "ragged" else "("
        raise PackError(
            f"column {column.name!r} needs shape {rows}{', '.join(map(str, column.shape))}), "
            f"got {array.shape}"
        )
    converted: bytes = _convert(column, array, wanted).tobytes()
    return converted


def _encode_text(column: Column, value: Any) -> bytes:
    if not isinstance(value, str):
        raise PackError(f"column {column.name!r} needs str, got {type(value).__name__}")
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise PackError(
            f"column {column.name!r} cannot store {value!r} ({error.reason})"
        ) from error


def _convert(column: Column, array: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> Any:
    # Floats may be rounded to a smaller float; whole numbers must come through unchanged.
    if array.dtype == wanted:
        return array
    rounds = wanted.kind == "f" and array.dtype.kind in "fiu"
    if not rounds and array.dtype.kind not in "biu":
        raise PackError(f"column {column.name!r} needs {column.dtype}, got {array.dtype}")
    with np.errstate(over="ignore"):
        converted = array.astype(wanted)
    if not rounds and not np.array_equal(converted, array):
        raise PackError(f"column {column.name!r}: {array!r} does not fit {column.dtype}")
    return converted


def decode_text(raw: bytes) -> str:
    """Return stored text; bytes that are not UTF-8 become surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")
