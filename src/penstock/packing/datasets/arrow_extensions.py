"""Arrow's extension types, seen as what they are stored as.

A library that was imported (Ray Data is one) may have registered types of its own, and Arrow knows
some itself: the same file then has other types in one process than in another. Here they are taken
off again, and what they say of a column becomes the metadata that the file has it in.
"""

from __future__ import annotations

import json
from typing import Any

NAME = b"ARROW:extension:name"
METADATA = b"ARROW:extension:metadata"


def plain_schema(schema: Any) -> Any:
    """Return a pyarrow.Schema without extension types."""
    for number, field in enumerate(schema):
        kind = field.type
        if hasattr(kind, "extension_name"):
            told = {NAME: kind.extension_name.encode(), METADATA: _metadata(kind)}
            plain = field.with_type(kind.storage_type)
            schema = schema.set(number, plain.with_metadata({**(field.metadata or {}), **told}))
    return schema


def plain_array(array: Any) -> Any:
    """Return a pyarrow.Array as it is stored."""
    return array.storage if hasattr(array.type, "extension_name") else array


def plain_cell(cell: Any) -> Any:
    """Return a pyarrow.Scalar as it is stored."""
    return cell.value if hasattr(cell.type, "extension_name") else cell


def _metadata(kind: Any) -> bytes:
    if hasattr(kind, "__arrow_ext_serialize__"):
        return bytes(kind.__arrow_ext_serialize__())
    told = {name: getattr(kind, name, None) for name in ("shape", "permutation")}
    return json.dumps({name: list(value) for name, value in told.items() if value}).encode()
