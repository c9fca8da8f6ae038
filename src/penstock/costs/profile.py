"""Profile whatever the user names: a Dataset, a pipeline of a known library, a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PIL import Image

from penstock.costs.code_lines import time_lines
from penstock.costs.dataset import (
    find_pipelines,
    is_dataset,
    profile_dataset,
    spread_indices,
    wrapped,
)
from penstock.costs.library_threads import library_threads
from penstock.costs.ops import time_ops
from penstock.costs.ours import is_ours, profile_ours
from penstock.costs.result import Profile
from penstock.costs.steps import Arguments, is_pipeline, single_ops, takes_names
from penstock.errors import PenstockError

LINES_ON = 16  # samples: the profiler slows everything down


def profile_object(
    value: Any, files: Callable[[], Sequence[str]], *, samples: int, by_line: bool, as_array: bool
) -> Profile:
    """Profile `value`; `files` gives photos for a transform, and is not asked for a Dataset.

    `as_array` hands the photos over as NumPy arrays, where Pillow images are the rule.
    """
    with library_threads(1):
        return _profile(value, files, samples, by_line=by_line, as_array=as_array)


def _profile(
    value: Any, files: Callable[[], Sequence[str]], samples: int, *, by_line: bool, as_array: bool
) -> Profile:
    if is_ours(value):
        if by_line:
            raise PenstockError(
                "profile: --lines cannot look into penstock's transforms, which are not Python. "
                "Leave it out."
            )
        return profile_ours(value, files()[:samples])
    if is_dataset(value):
        profile = profile_dataset(value, samples)
        return _with_lines_of_dataset(profile, value) if by_line else profile
    if not is_pipeline(value) and not callable(value):
        raise PenstockError(
            f"profile: {type(value).__name__} is neither a Dataset (with __getitem__ and __len__) "
            f"nor a transform.{_way_out(value)}"
        )
    return _profile_transform(value, files()[:samples], by_line=by_line, as_array=as_array)


def _way_out(value: Any) -> str:
    if hasattr(value, "dataset"):
        return " Name its data set, as in train:loader.dataset."
    if hasattr(value, "__iter__"):
        return " It gives no samples by number: name its transform."
    return " Name one of these."


def _profile_transform(
    pipeline: Any, files: Sequence[str], *, by_line: bool, as_array: bool
) -> Profile:
    named = takes_names(pipeline)
    inputs = [_arguments(file, named=named, as_array=as_array or named) for file in files]
    ops = time_ops(pipeline, inputs)
    profile = Profile(
        what="transform" if isinstance(pipeline, (list, tuple)) else type(pipeline).__name__,
        samples=len(inputs),
        microseconds=sum(op.microseconds for op in ops),
        ops=ops,
    )
    if not by_line:
        return profile

    def run() -> int:
        for arguments in inputs:
            given = arguments
            for op in single_ops(pipeline):
                given = given.after(given.bind(op)())
        return len(inputs)

    return replace(profile, lines_of_code=time_lines(run, single_ops(pipeline)))


def _with_lines_of_dataset(profile: Profile, dataset: Any) -> Profile:
    ops = [op for holder, name in find_pipelines(dataset) for op in single_ops(vars(holder)[name])]
    indices = spread_indices(len(dataset), LINES_ON)

    def run() -> int:
        for index in indices:
            dataset[index]
        return len(indices)

    return replace(profile, lines_of_code=time_lines(run, [*wrapped(dataset), *ops]))


def _arguments(file: str, *, named: bool, as_array: bool) -> Arguments:
    with Image.open(file) as opened:
        photo: Any = opened.convert("RGB")
    image = np.asarray(photo) if as_array else photo
    return Arguments(named={"image": image}) if named else Arguments((image,))
