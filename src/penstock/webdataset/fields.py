"""The files of a sample in a tar archive, and what becomes of each by its extension.

| extension | in a batch |
|---|---|
| .jpg .png ... | images, after the transforms |
| .cls .cls2 .index .inx .id | whole numbers, int64 |
| .txt .text .transcript | texts |
| .json .jsn | what the JSON says |
| `__key__`, `__url__` | texts: the sample's name, its archive |
| others | bytes |

What webdataset would unpickle, or decode by a library of its own, is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.data.unpacked import UnpackedSource
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.packing.datasets import LayoutSource
from penstock.packing.datasets.tar import tar_stem
from penstock.packing.datasets.webdataset import IMAGE_FIELDS, LABEL_FIELD, TarFacts
from penstock.packing.items import LABEL, Column

KEY, URL = Column("__key__", "text"), Column("__url__", "text")

_NUMBERS = frozenset([LABEL_FIELD, "cls2", "index", "inx", "id"])
_TEXTS = frozenset(["txt", "text", "transcript"])
_JSON = frozenset(["json", "jsn"])
_REFUSED = frozenset(
    ["pkl", "pickle", "pyd", "pth", "ten", "tb", "mp", "msg", "npy", "npz", "cbor"]
)


class TarSource(UnpackedSource):
    """The samples of archives, with their keys and archives as further columns."""

    def __init__(self, layout: LayoutSource, facts: TarFacts) -> None:
        super().__init__(layout)
        self.facts = facts

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns that every sample has."""
        return (*super().schema, KEY, URL)

    def values(self, column: Column, indices: Ints) -> Any:
        """Return the values of these samples, in memory of their own."""
        if column == URL:
            return [self.facts.shard_of(index) for index in indices.tolist()]
        if column == KEY:
            return [self._key(index) for index in indices.tolist()]
        return super().values(column, indices)

    def _key(self, index: int) -> str:
        """The name that the files of a sample share."""
        name = self.file_name(index)
        if len(self.facts.shards) > 1:  # names begin with their archive, to be different
            name = name.removeprefix(tar_stem(self.facts.shard_of(index)) + "/")
        folder, file = os.path.split(name)
        return os.path.join(folder, file.partition(".")[0])


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a batch: the column that it is made of, and how."""

    key: str  # as the user writes it
    column: str | None  # None: the images
    finish: Callable[[Any], Any]  # raises ValueError for a file that has something else


def read_keys(source: TarSource, keys: Sequence[str] | None) -> list[Field]:
    """Return the fields to deliver, in that order; all of them if `keys` is None."""
    facts = source.facts
    if keys is None:
        several = len(facts.images) > 1
        if several:
            raise LoaderError(
                f"{source.title}: images are {_listed(facts.images)}, so that batches would have "
                "different keys. Name the keys: keys=('jpg;png', ...)."
            )
        keys = [KEY.name, URL.name, *facts.images, *facts.fields]
    elif isinstance(keys, str) or not keys or not all(isinstance(key, str) for key in keys):
        raise LoaderError(f"keys must be a list of names, such as ('jpg', 'cls'), got {keys!r}.")
    fields = [_read_key(source, key) for key in keys]
    if sum(field.column is None for field in fields) != 1:
        raise LoaderError(
            f"{source.title}: keys={tuple(keys)!r} must name the images once; they are "
            f"{_listed(facts.images)}. For several extensions, write 'jpg;png'."
        )
    return fields


def _read_key(source: TarSource, key: str) -> Field:
    facts, count = source.facts, len(source)
    if key in {KEY.name, URL.name}:
        return Field(key, key, _as_it_is)
    names = key.split(";")
    if any(name in facts.images for name in names):
        lacking = count - sum(facts.images.get(name, 0) for name in set(names))
        if lacking:
            raise _missing(source, key, lacking, f"images are {_listed(facts.images)}")
        return Field(key, None, _as_it_is)
    found = [name for name in names if name in facts.fields]
    if not found:
        there = ", ".join([*facts.images, *facts.fields])
        raise LoaderError(f"{source.title}: no sample has a file .{key}. There are {there}.")
    if len(found) > 1 or len(names) > 1:
        raise LoaderError(
            f"{source.title}: {key!r} names several files. Only images may have several extensions."
        )
    lacking = count - facts.fields[key]
    if lacking:
        raise _missing(source, key, lacking, "the others have one")
    return Field(key, _column_of(source, key), _finish_of(source, key))


def _column_of(source: TarSource, key: str) -> str:
    if key != LABEL_FIELD:
        return source.facts.columns[key].name
    if source.classes is not None:
        raise LoaderError(
            f"{source.title}: its .cls files have names of classes, where webdataset has numbers. "
            "Use penstock.Loader, which numbers the classes."
        )
    return LABEL.name


def _finish_of(source: TarSource, key: str) -> Callable[[Any], Any]:
    ending = key.rpartition(".")[2]
    is_mask = key != LABEL_FIELD and source.facts.columns[key].name == "masks"
    if is_mask or ending in IMAGE_FIELDS:
        raise LoaderError(
            f"{source.title}: .{key} is a second image, and only one is decoded here. "
            "Leave it out of keys; penstock.Loader(..., masks=True) delivers masks."
        )
    if ending in _REFUSED:
        raise LoaderError(
            f"{source.title}: .{key} would have to be unpickled or decoded, which is not done. "
            "Leave it out of keys; penstock.Loader(..., columns=[...]) delivers its bytes."
        )
    if key == LABEL_FIELD:
        return _as_it_is
    if ending in _NUMBERS:
        return _numbers
    if ending in _JSON:
        return _json
    return _texts if ending in _TEXTS else _bytes


def _as_it_is(values: Any) -> Any:
    return values


def _numbers(values: list[bytes | str]) -> Any:
    return np.array([int(value) for value in values], np.int64)


def _json(values: list[str]) -> list[Any]:
    return [json.loads(value) for value in values]


def _texts(values: list[str]) -> list[str]:
    for value in values:
        value.encode("utf-8")  # fails for what stands for bytes that are not UTF-8
    return values


def _bytes(values: list[str | bytes]) -> list[bytes]:
    return [
        value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        for value in values
    ]


def _missing(source: TarSource, key: str, lacking: int, others: str) -> LoaderError:
    return LoaderError(
        f"{source.title}: {lacking:,} of {len(source):,} samples have no file .{key}; {others}. "
        "Leave the key out, or those samples."
    )


def _listed(names: Any) -> str:
    return ", ".join(f".{name}" for name in names)
