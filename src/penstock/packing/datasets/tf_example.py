"""tf.train.Example: named lists of bytes, floats or integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.packing.datasets.protobuf import (
    fields,
    packed_floats,
    packed_varints,
    submessage,
)

BYTES_LIST, FLOAT_LIST, INT64_LIST = 1, 2, 3


class Feature(NamedTuple):
    """One of the three lists; the others are empty."""

    kind: int  # BYTES_LIST, FLOAT_LIST, INT64_LIST, or 0 for a feature without a value
    blobs: list[memoryview]
    floats: npt.NDArray[np.float32]
    integers: list[int]


Example = dict[str, Feature]
_NO_FLOATS = np.zeros(0, np.float32)
NO_FEATURE = Feature(0, [], _NO_FLOATS, [])


def parse_example(record: memoryview, where: str) -> Example:
    """Read the features of one record."""
    example: Example = {}
    for number, features in fields(record, where):
        if number != 1:
            continue
        for entry_number, entry in fields(submessage(features, where), where):
            if entry_number == 1:
                name, feature = _entry(submessage(entry, where), where)
                example[name] = feature
    return example


def _entry(entry: memoryview, where: str) -> tuple[str, Feature]:
    name, feature = "", NO_FEATURE
    for number, value in fields(entry, where):
        if number == 1:
            name = str(submessage(value, where), "utf-8", "replace")
        elif number == 2:
            feature = _feature(submessage(value, where), where)
    return name, feature


def _feature(message: memoryview, where: str) -> Feature:
    for kind, values in fields(message, where):
        items = [v for n, v in fields(submessage(values, where), where) if n == 1]
        if kind == BYTES_LIST:
            return Feature(kind, [submessage(item, where) for item in items], _NO_FLOATS, [])
        if kind == FLOAT_LIST:
            floats = [packed_floats(item, where) for item in items]
            return Feature(kind, [], np.concatenate([_NO_FLOATS, *floats]), [])
        if kind == INT64_LIST:
            integers = [i for item in items for i in packed_varints(item, where)]
            return Feature(kind, [], _NO_FLOATS, integers)
        raise SourceError(f"{where}: a feature of unknown kind {kind}; the record is damaged.")
    return NO_FEATURE
