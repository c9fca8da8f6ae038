"""`read`: a data set as a `ray.data.Dataset`, for pipelines that are Ray Data's already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata

from penstock.data.columns import LABEL, columns_of, label_column
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.limits import Limits, limits_or_in_force
from penstock.loading.again import names_of
from penstock.loading.batch import PART_SIZE
from penstock.loading.loader import Loader
from penstock.loading.pipeline import ChosenRules
from penstock.loading.prepared_part import OrderedPart, PreparedPart
from penstock.ray.loader import absolute_path, absolute_paths
from penstock.rng import check_epoch
from penstock.sources import Source
from penstock.transforms.values import FinalSpec

_PIXELS_GUESSED = 400 * 500  # of an image that nobody has looked at, for Ray's estimates

Block = dict[str, npt.NDArray[Any]]


def read(
    data: Any,
    *,
    transform: Any = None,
    labels: Any = None,
    columns: Sequence[str] = (),
    decode: bool = True,
    seed: int = 0,
    epoch: int = 0,
    threads: int = 1,
    limits: Limits | None = None,
    **options: Any,
) -> Any:
    """Return a data set as a `ray.data.Dataset` with a row per sample.

    Rows have `image`, uint8 (height, width, 3) after `transform`; or with `decode=False` `bytes`,
    the image file as it was packed. Then `label`, if there are any, `name`, and the `columns` asked
    for. Where there are boxes, `boxes`, `box_labels` and `keypoints` follow the transforms.

    Ray Data passes blocks of rows on as they come; with its option `preserve_order`, in the data
    set's order.

    Draws depend on `seed`, `epoch` and the sample, so the rows are the same for any number of tasks
    and nodes. Values are not normalised here: uint8 is what travels well. Files that cannot be read
    are errors. `data` and `labels` are those of `penstock.Loader`, and must be found under the same
    path on every node; `threads` are those of each task, and the CPUs that it asks Ray for.
    `options` go to `ray.data.read_datasource`, such as `override_num_blocks`.
    """
    check_epoch("penstock.ray.read", epoch)
    arguments = {
        "transform": transform,
        "labels": absolute_path(labels),
        "columns": list(columns) or None,
        "seed": seed,
        "threads": threads,
        "limits": limits_or_in_force(limits),
        "output": "numpy",
        "rank": 0,
        "world_size": 1,
    }
    data = absolute_paths(data)
    loader = Loader(data, **arguments)
    if not decode and transform is not None:
        raise LoaderError(
            "penstock.ray.read: decode=False gives files, to which no transform is done."
        )
    if loader.plan.views or _ends(loader) != (FinalSpec(), ()):
        raise LoaderError(
            "penstock.ray.read: rows have one image each, in uint8. Leave MultiView and what ends "
            "the work on pixels (ToDtype, Normalize, RandomErasing) to map_batches."
        )
    rules = loader.choose_rules() if decode else ChosenRules((), ())
    task = _Task(data, arguments, rules, epoch, decode)
    source = _Samples(task, len(loader.source), loader.source.describe())
    return ray.data.read_datasource(source, num_cpus=threads, **options)


def _ends(loader: Loader) -> tuple[FinalSpec, tuple[Any, ...]]:
    return loader.plan.final, loader.plan.segments[-1].finishing


@dataclass(frozen=True, slots=True)
class _Task:
    """How samples are read, in any process."""

    data: Any
    arguments: Mapping[str, Any]
    rules: ChosenRules
    epoch: int
    decode: bool

    def blocks(self, start: int, stop: int) -> Iterator[Any]:
        """Yield samples in pieces."""
        loader = Loader(self.data, **self.arguments)
        spans = [np.arange(at, min(at + PART_SIZE, stop)) for at in range(start, stop, PART_SIZE)]
        if not self.decode:
            for samples in spans:
                yield _to_block(
                    _files(loader.source, samples) | self._beside(loader.source, samples)
                )
            return
        preparer = loader.preparer(self.rules, one_size=False)
        try:
            for number, samples in enumerate(spans):
                seed = self.arguments["seed"]
                order = OrderedPart(number, seed, self.epoch, samples, samples, number)
                part = preparer.prepare(order)
                yield _to_block(_images(part) | self._beside(loader.source, samples))
        finally:
            preparer.close()

    def _beside(self, source: Source, samples: Ints) -> Block:
        """What goes with the images."""
        labels, known = label_column(source), columns_of(source)
        values: dict[str, Any] = {} if labels is None else {LABEL: labels.at(samples)}
        values["name"] = list(names_of(source, samples))
        values |= {name: known[name].at(samples) for name in self.arguments["columns"] or ()}
        return {
            name: _objects(column) if isinstance(column, list) else np.asarray(column)
            for name, column in values.items()
        }


class _Samples(ray.data.Datasource):
    """A data set as a data source of Ray Data's."""

    def __init__(self, task: _Task, samples: int, described: str) -> None:
        super().__init__()
        self._task = task
        self._samples = samples
        self._described = described

    def get_name(self) -> str:
        """Return what Ray's progress bars call it."""
        return f"penstock({self._described})"

    def estimate_inmemory_data_size(self) -> int:
        """Guess how many bytes all rows have."""
        return self._samples * _PIXELS_GUESSED * 3

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """Cut the samples into spans."""
        del data_context
        count = max(1, min(parallelism, self._samples))
        bounds = np.linspace(0, self._samples, count + 1).astype(np.int64).tolist()
        return [
            ray.data.ReadTask(
                _Span(self._task, start, stop),
                BlockMetadata(
                    num_rows=stop - start,
                    size_bytes=(stop - start) * _PIXELS_GUESSED * 3,
                    input_files=None,
                    exec_stats=None,
                ),
                per_task_row_limit=per_task_row_limit,
            )
            for start, stop in pairwise(bounds)
        ]


@dataclass(frozen=True, slots=True)
class _Span:
    """What a task of Ray's calls."""

    task: _Task
    start: int
    stop: int

    def __call__(self) -> Iterator[Any]:
        return self.task.blocks(self.start, self.stop)


def _images(part: PreparedPart) -> Block:
    images = part.images[0]
    block = {"image": _objects(images) if isinstance(images, list) else images}
    if part.targets is None:
        return block
    targets = part.targets
    columns = {
        "boxes": targets.formatted_boxes(),
        "box_labels": targets.labels,
        "keypoints": targets.keypoints,
    }
    for name, column in columns.items():
        if column is not None:
            block[name] = _objects(np.split(column, targets.offsets[1:-1]))
    return block


def _files(source: Source, samples: Ints) -> Block:
    files = []
    for sample in samples.tolist():
        with source.open(sample) as file:
            files.append(file.read())
    return {"bytes": _objects(files)}


def _objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    """An array of objects, whatever their shapes."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _to_block(columns: Block) -> Any:
    return BlockAccessor.batch_to_block(columns)
