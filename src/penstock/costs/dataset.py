"""What a Dataset costs: the ops of its transform, the rest, and its slowest files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from penstock.costs.call_timer import CallTimer
from penstock.costs.ops import time_ops, with_shares
from penstock.costs.result import Profile
from penstock.costs.steps import PYTHON, Arguments, is_pipeline
from penstock.errors import SourceError
from penstock.results.records import OpCost

FILES_NAMED = 10
CANDIDATES = 20  # timed again, since one slow reading may be the machine's doing
READINGS = 3
OPS_ON = 32  # samples whose inputs are kept for timing ops
REST = "__getitem__ besides"  # reading, decoding, and whatever else it does
FILE_LISTS = ("samples", "imgs", "images", "files", "paths", "image_paths", "filenames", "ids")


def is_dataset(value: Any) -> bool:
    """Whether `value` gives samples by number."""
    return hasattr(value, "__getitem__") and hasattr(value, "__len__") and not is_pipeline(value)


def profile_dataset(dataset: Any, samples: int) -> Profile:
    """Time `samples` samples, spread over the data set."""
    if len(dataset) == 0:
        raise SourceError(f"profile: {type(dataset).__name__} is empty. Give it some samples.")
    indices = spread_indices(len(dataset), samples)
    _get(dataset, indices[0])  # what is done only once is not what a sample costs
    timer = CallTimer()
    inputs: list[Arguments] = []
    # Of several transforms the first is timed op by op, others count as the rest.
    found = next(find_pipelines(dataset), None)
    with _kept_inputs(*found, inputs) if found else nullcontext():
        seconds = [_seconds(timer, dataset, index) for index in indices]
    ops = time_ops(getattr(*found), inputs) if found and inputs else ()
    mean = float(np.mean(seconds)) * 1e6
    rest = max(mean - sum(op.microseconds for op in ops), 0.0)
    return Profile(
        what=type(dataset).__name__,
        samples=len(indices),
        microseconds=mean,
        ops=with_shares([OpCost(REST, rest, 0.0, PYTHON), *ops]),
        slowest_files=_slowest(timer, dataset, indices, seconds),
    )


def find_slowest_files(dataset: Any, samples: int) -> tuple[tuple[str, float], ...]:
    """Time some samples, spread over the data set; return the slowest with their milliseconds."""
    timer = CallTimer()
    indices = spread_indices(len(dataset), samples)
    seconds = [_seconds(timer, dataset, index) for index in indices]
    return _slowest(timer, dataset, indices, seconds)


def spread_indices(length: int, wanted: int) -> list[int]:
    """Return up to `wanted` indices, evenly over the data set."""
    chosen: list[int] = np.unique(np.linspace(0, length - 1, wanted).astype(np.int64)).tolist()
    return chosen


def wrapped(dataset: Any) -> Iterator[Any]:
    """Yield the data set and those inside it, as Subset and its like hold them."""
    seen: list[Any] = []
    while dataset is not None and not any(dataset is other for other in seen):
        seen.append(dataset)
        yield dataset
        dataset = getattr(dataset, "dataset", None)


def find_pipelines(dataset: Any) -> Iterator[tuple[Any, str]]:
    """Yield where the data set keeps its transforms: an object and the name of its attribute."""
    for level in wrapped(dataset):
        for name, value in vars(level).items() if hasattr(level, "__dict__") else ():
            if is_pipeline(value) and callable(value):
                yield level, name
            elif type(value).__name__ == "StandardTransform" and is_pipeline(value.transform):
                yield value, "transform"


@contextmanager
def _kept_inputs(holder: Any, name: str, inputs: list[Arguments]) -> Iterator[None]:
    """Keep what the transform is called with."""
    transform = getattr(holder, name)

    def keep(*positional: Any, **named: Any) -> Any:
        if len(inputs) < OPS_ON:
            inputs.append(Arguments(positional, named))
        return transform(*positional, **named)

    # A torch module refuses to have a submodule replaced by a function; its dictionary does not.
    vars(holder)[name] = keep
    try:
        yield
    finally:
        vars(holder)[name] = transform


def _get(dataset: Any, index: int) -> Any:
    try:
        return dataset[index]
    except Exception as error:
        file = file_name(dataset, index)
        sample = file if file == f"sample {index}" else f"sample {index} ({file})"
        raise SourceError(f"profile: {sample} failed: {type(error).__name__}: {error}") from error


def _seconds(timer: CallTimer, dataset: Any, index: int) -> float:
    return timer.time_single(lambda: _get(dataset, index))


def _slowest(
    timer: CallTimer, dataset: Any, indices: Sequence[int], seconds: Sequence[float]
) -> tuple[tuple[str, float], ...]:
    by_time = sorted(zip(seconds, indices, strict=True), reverse=True)[:CANDIDATES]
    again = [
        (min(once_s, *(_seconds(timer, dataset, index) for _ in range(READINGS - 1))), index)
        for once_s, index in by_time
    ]
    slowest = sorted(again, reverse=True)[:FILES_NAMED]
    return tuple((file_name(dataset, index), took_s * 1e3) for took_s, index in slowest)


def file_name(dataset: Any, index: int) -> str:
    """Return the file of a sample, where the data set has a list of them; else its number."""
    for level in wrapped(dataset):
        positions = getattr(level, "indices", None)
        if positions is not None and hasattr(level, "dataset"):
            index = int(positions[index])
            continue
        for attribute in FILE_LISTS:
            if (name := _listed(level, attribute, index)) is not None:
                return name
    return f"sample {index}"


def _listed(dataset: Any, attribute: str, index: int) -> str | None:
    listed = getattr(dataset, attribute, None)
    if not isinstance(listed, (list, tuple)) or not 0 <= index < len(listed):
        return None
    entry = listed[index]
    if isinstance(entry, (list, tuple)) and entry:
        entry = entry[0]
    if isinstance(entry, (str, os.PathLike)):
        return os.fspath(entry)
    return f"id {entry}" if isinstance(entry, int) else None
