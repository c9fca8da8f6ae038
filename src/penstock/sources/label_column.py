"""Turn a column of labels, as the user gave them, into numbers and class names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, ItemsView, Iterable, KeysView, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from penstock.errors import SourceError
from penstock.sources.source import Labels

LabelKind = Literal["integer", "float", "class"]

# Stricter than int() and float(), which also take "1_0", "nan" and digits of any alphabet.
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MAX_DIGITS = 100  # Python refuses to read integers of some thousands of digits


@dataclass(slots=True)
class LabelColumn:
    """Collects labels written as text, each with a number that `place` turns into words for errors.

    The first label decides whether all are numbers or all are class names, unless `kind` does;
    one decimal among integers makes the column float.
    """

    place: Callable[[int], str]
    kind: LabelKind | None = None
    _texts: list[str] = field(default_factory=list)
    _decided_by: int | None = None  # the number of the label that decided the kind

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in get_args(LabelKind):
            allowed = ", ".join(get_args(LabelKind))
            raise SourceError(f"label_kind must be one of {allowed}, got {self.kind!r}.")

    def add(self, text: str, number: int) -> None:
        """Add one label."""
        text = text.strip()
        if not text:
            raise SourceError(f"{self.place(number)}: the label is empty. Give every file a label.")
        if self.kind is None:
            self.kind, self._decided_by = _kind_of(text), number
        elif self.kind == "integer" and self._decided_by is not None and _kind_of(text) == "float":
            self.kind = "float"
        if self.kind != "class":
            self._require_number(text, number)
        self._texts.append(text)

    def finish(self) -> tuple[Labels, tuple[str, ...] | None]:
        """Return the labels, and the sorted class names if labels were names."""
        if self.kind != "class":
            texts = np.array(self._texts, dtype=object)
            if self.kind == "integer":
                return texts.astype(np.int64), None
            return texts.astype(np.float64), None
        classes = tuple(sorted(set(self._texts)))
        label_of = {name: label for label, name in enumerate(classes)}
        return np.array([label_of[text] for text in self._texts], np.int64), classes

    def _require_number(self, text: str, number: int) -> None:
        if self.kind == "integer":
            if not _INTEGER.fullmatch(text):
                wrong = f"label {text!r} is not an integer{self._reason()}"
            elif len(text) > MAX_DIGITS or not INT64_MIN <= int(text) <= INT64_MAX:
                wrong = f"label {text[:MAX_DIGITS]} does not fit into 64 bits."
            else:
                return
        elif not _FLOAT.fullmatch(text) or not math.isfinite(float(text)):
            wrong = f"label {text!r} is not a finite number{self._reason()}"
        else:
            return
        raise SourceError(f"{self.place(number)}: {wrong}")

    def _reason(self) -> str:
        if self._decided_by is None:
            return ". Correct it, or choose another label_kind (--label-kind)."
        return (
            f", but the first label ({self.place(self._decided_by)}) is one. "
            "Correct it, or if labels are names, say so: open_labels_file(..., "
            "label_kind='class') or --label-kind class."
        )


def refuse_unordered(values: object, where: str) -> None:
    """Raise for a set: its order is arbitrary, and may differ in the next run."""
    if isinstance(values, AbstractSet) and not isinstance(values, (KeysView, ItemsView)):
        raise SourceError(
            f"{where} are a {type(values).__name__}, which has no order, so that every run would "
            "see another data set. Give a list, for example sorted(...)."
        )


def labels_from_values(
    values: Iterable[object], count: int, where: str
) -> tuple[Labels, tuple[str, ...] | None]:
    """Return labels for `count` samples: numbers, vectors of equal length, or class names."""
    refuse_unordered(values, f"{where}: labels")
    numbers = np.asarray(values) if hasattr(values, "__array__") else None
    if numbers is None or numbers.dtype.kind not in "biuf":
        given = list(values) if numbers is None else numbers.tolist()
        _check_count(given, count, where)
        if all(isinstance(value, str) for value in given):
            column = LabelColumn(lambda index: f"{where}, label {index:,}", kind="class")
            for index, value in enumerate(given):
                column.add(value, index)
            return column.finish()
        numbers = _as_numbers(given, where)
    _check_count(numbers, count, where)
    labels = _as_labels(numbers, where)
    wrong = np.argwhere(~np.isfinite(labels))
    if len(wrong):
        raise SourceError(
            f"{where}: label {wrong[0][0]:,} is {labels[tuple(wrong[0])]}, not a finite number."
        )
    return labels, None


def _check_count(given: Sized, count: int, where: str) -> None:
    if isinstance(given, np.ndarray) and given.ndim == 0:
        raise SourceError(f"{where}: labels are a single number. Give one label per file.")
    if len(given) != count:
        raise SourceError(
            f"{where}: {len(given):,} labels for {count:,} files. Give one label per file."
        )


def _as_numbers(given: Sequence[object], where: str) -> npt.NDArray[Any]:
    try:
        numbers = np.array([np.asarray(value) if _is_vector(value) else value for value in given])
    except (ValueError, OverflowError):
        numbers = np.array(None)
    if numbers.dtype.kind in "biuf":
        return numbers
    lengths = {len(value) for value in given if isinstance(value, Sized)}
    if len(lengths) > 1 and all(_is_vector(value) for value in given):
        raise SourceError(
            f"{where}: labels are vectors of {min(lengths)} to {max(lengths)} numbers. Give "
            "vectors of one length, multi-hot for example."
        )
    kinds = sorted({type(value).__name__ for value in given})
    raise SourceError(
        f"{where}: labels must be all integers, all floats, all vectors of one length or all "
        f"class names, got {', '.join(kinds)}."
    )


def _is_vector(value: object) -> bool:
    return isinstance(value, (list, tuple)) or hasattr(value, "__array__")


def _as_labels(numbers: npt.NDArray[Any], where: str) -> Labels:
    """Whole numbers as int64; floating point as it is, float16 as float32."""
    if 0 in numbers.shape[1:]:
        raise SourceError(f"{where}: labels are empty vectors. Give at least one number each.")
    if numbers.dtype.kind == "f":
        return numbers.astype(np.float64 if numbers.dtype.itemsize > 4 else np.float32)
    if not _fits_int64(numbers):
        raise SourceError(f"{where}: labels up to {numbers.max()} do not fit into 64 bits.")
    return numbers.astype(np.int64)


def _fits_int64(labels: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bool:
    return labels.dtype.kind != "u" or bool(np.all(labels <= np.uint64(INT64_MAX)))


def _kind_of(text: str) -> LabelKind:
    if _INTEGER.fullmatch(text):
        return "integer"
    return "float" if _FLOAT.fullmatch(text) else "class"
