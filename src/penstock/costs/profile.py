"""`penstock profile`: a Dataset, a pipeline of a known library, or a function, op by op."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from PIL import Image

from penstock.costs.code_lines import LineCost, time_lines
from penstock.costs.costs import Costs
from penstock.costs.dataset_costs import (
    fetch,
    measure_dataset,
    measure_transform,
)
from penstock.costs.loader_costs import measure_loader
from penstock.costs.ops import (
    Arguments,
    is_dataset,
    is_pipeline,
    layers,
    library_of,
    list_ops,
    single_ops,
)
from penstock.costs.slow_files import SlowFiles, slow_files_of_dataset
from penstock.errors import PenstockError
from penstock.loading.loader import Loader
from penstock.results.records import OpCost
from penstock.transforms.op import Transform
from penstock.usable_cores import library_threads

_LINES_ON = 16  # samples: the profiler slows everything down
_BAR_WIDTH = 20
_MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class Profile:
    """What was found, for the terminal and JSON alike."""

    what: str
    samples: int
    microseconds: float  # per sample, all parts together
    ops: tuple[OpCost, ...]
    slowest_files: SlowFiles = ()
    lines_of_code: tuple[LineCost, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the profile as lines of text."""
        rate = ""
        if self.microseconds:
            rate = f", {1e6 / self.microseconds:,.0f} per second on one core"
        yield f"{self.what}: {self.microseconds:,.1f} us per sample{rate} ({self.samples} samples)"
        yield ""
        width = max((len(op.name) for op in self.ops), default=0)
        for op in self.ops:
            bar = "#" * round(op.share * _BAR_WIDTH)
            note = f"  {op.note}" if op.note else ""
            yield (
                f"  {op.name:<{width}}  {op.microseconds:>10,.1f} us  {op.share:>4.0%}  "
                f"{bar:<{_BAR_WIDTH}}  {op.runs_in}{note}"
            )
        if self.slowest_files:
            yield ""
            yield "slowest files"
            for name, milliseconds in self.slowest_files:
                yield f"  {milliseconds:>8,.2f} ms  {name}"
        if self.lines_of_code:
            yield from self._costly_lines()

    def _costly_lines(self) -> Iterator[str]:
        yield ""
        yield "costliest lines"
        costly = sorted(self.lines_of_code, key=lambda line: -line.microseconds)[:_MOST_LINES]
        places = [f"{line.file}:{line.line}" for line in costly]
        width = max(map(len, places))
        for place, line in zip(places, costly, strict=True):
            yield (
                f"  {place:<{width}}  {line.microseconds:>10,.1f} us  {line.share:>4.0%}  "
                f"{line.code}"
            )


def profile_object(
    value: Any, files: Callable[[], Sequence[str]], *, samples: int, by_line: bool, as_array: bool
) -> Profile:
    """Profile `value`; `files` gives photos for a transform, and is not asked for a Dataset.

    `as_array` hands the photos over as NumPy arrays, where Pillow images are the rule.
    """
    with library_threads(1):
        if isinstance(value, Transform):
            return _profile_ours(value, files()[:samples], by_line=by_line)
        if is_dataset(value):
            return _profile_dataset(value, samples, by_line=by_line)
        if is_pipeline(value) or callable(value):
            return _profile_theirs(value, files()[:samples], by_line=by_line, as_array=as_array)
    raise PenstockError(
        f"profile: {type(value).__name__} is neither a Dataset (with __getitem__ and __len__) "
        f"nor a transform.{_way_out(value)}"
    )


def _way_out(value: Any) -> str:
    if hasattr(value, "dataset"):
        return " Name its data set, as in train:loader.dataset."
    if hasattr(value, "__iter__"):
        return " It gives no samples by number: name its transform."
    return " Name one of these."


def _profile_ours(transform: Transform, files: Sequence[str], *, by_line: bool) -> Profile:
    """Time a pipeline of ours on some files, one thread, one image at a time."""
    if by_line:
        raise PenstockError(
            "profile: --lines cannot look into penstock's transforms, which are not Python. "
            "Leave it out."
        )
    loader = Loader(list(files), batch_size=1, transform=transform, threads=1, output="numpy")
    try:
        costs = measure_loader(loader, batches=len(files))
    finally:
        loader.close()
    return _profile(type(transform).__name__, len(files), costs)


def _profile_dataset(dataset: Any, samples: int, *, by_line: bool) -> Profile:
    found = measure_dataset(dataset, samples)
    slowest = slow_files_of_dataset(dataset, found.indices, found.seconds)
    lines: tuple[LineCost, ...] = ()
    if by_line:
        code = [*layers(dataset), *list_ops(dataset)]
        lines = time_lines(lambda: sum(1 for _ in fetch(dataset, _LINES_ON)), code)
    return _profile(type(dataset).__name__, len(found.indices), found.costs, slowest, lines)


def _profile_theirs(
    pipeline: Any, files: Sequence[str], *, by_line: bool, as_array: bool
) -> Profile:
    """Time a pipeline of another library, or functions of the user's, on photos in memory."""
    ops = list(single_ops(pipeline))
    named = library_of(ops[0]) == "albumentations"  # whose ops are called with `image=...`
    inputs = [_arguments(file, named=named, as_array=as_array or named) for file in files]
    what = "transform" if isinstance(pipeline, (list, tuple)) else type(pipeline).__name__
    costs = measure_transform(pipeline, inputs)

    def run() -> int:
        for arguments in inputs:
            given = arguments
            for op in ops:
                given = given.after(given.bind(op)())
        return len(inputs)

    return _profile(what, len(inputs), costs, lines=time_lines(run, ops) if by_line else ())


def _profile(
    what: str,
    samples: int,
    costs: Costs,
    slowest: SlowFiles = (),
    lines: tuple[LineCost, ...] = (),
) -> Profile:
    return Profile(what, samples, costs.total_s * 1e6, costs.as_op_costs(), slowest, lines)


def _arguments(file: str, *, named: bool, as_array: bool) -> Arguments:
    with Image.open(file) as opened:
        photo: Any = opened.convert("RGB")
    image = np.asarray(photo) if as_array else photo
    return Arguments(named={"image": image}) if named else Arguments((image,))
