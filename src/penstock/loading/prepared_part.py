"""Parts of batches that are prepared elsewhere, up to their last pass.

Whoever orders a part says which samples it has and what their draws depend on; whoever prepares it
needs to know nothing of epochs, ranks and batches, and keeps nothing. What comes back are images in
uint8 with what goes beside them: a quarter of the bytes that they have in float32.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock._core import Element
from penstock.data.column_source import ColumnSource
from penstock.errors import LoaderError
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Batch, BatchMaker, Part
from penstock.loading.failures import Ledger
from penstock.loading.options import OutputOptions
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.planner.plan import Plan
from penstock.transforms.targets import Targets
from penstock.transforms.values import FinalSpec

Pixels = npt.NDArray[np.uint8]

_MOST_IDLE = 4  # buffers that wait to be filled again


@dataclass(frozen=True, slots=True)
class OrderedPart:
    """Which samples a part has, and what their draws depend on."""

    batch: int  # its number in the epoch, for messages
    seed: int
    epoch: int
    keys: Ints
    samples: Ints
    rank: int  # lower goes first

    @staticmethod
    def of(part: Part) -> OrderedPart:
        """The order for a part of a batch."""
        return OrderedPart(
            part.batch.number, part.seed, part.epoch, part.keys, part.samples, part.rank
        )


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """What became of the samples of a part; all but `samples` and `sizes` is of the good ones."""

    samples: Ints  # those that were read: a substitute takes the place of a bad one
    sizes: Sizes  # of their images in the files
    good: Ints  # positions in the part
    images: tuple[Pixels | list[Pixels], ...]  # by view: (images, height, width, 3), or a list
    targets: Targets | None
    masks: list[Pixels] | None  # of objects
    label_maps: list[npt.NDArray[np.uint8 | np.uint16]] | None  # of whole images
    noted: tuple[tuple[int, str, str], ...]  # for the ledger: sample, event, reason

    @property
    def nbytes(self) -> int:
        """Bytes of all its arrays."""
        columns: list[Any] = [] if self.targets is None else list(_columns(self.targets))
        arrays = [self.samples, self.good, self.sizes.height, self.sizes.width, *columns]
        for images in (*self.images, self.masks or [], self.label_maps or []):
            arrays += images if isinstance(images, list) else [images]
        return sum(array.nbytes for array in arrays)


def _columns(targets: Targets) -> list[npt.NDArray[Any]]:
    columns = [targets.offsets, targets.boxes, targets.labels, targets.keypoints, targets.whole]
    return [column for column in (*columns, *targets.extras.values()) if column is not None]


class Preparer:
    """Prepares parts in the process that made it; any thread may ask, and several at a time.

    `one_size` makes images of different sizes an error; None leaves that to the pipeline.
    """

    def __init__(
        self, pipeline: Pipeline, rules: ChosenRules, *, one_size: bool | None = None
    ) -> None:
        if pipeline.reusing is not None or pipeline.library is not None:
            raise LoaderError("Preparer: neither reuse nor another backend is possible here.")
        output = OutputOptions(Element.UINT8, "hwc", "numpy", len(pipeline.plan.views), pins=False)
        self._pipeline = replace(pipeline, plan=without_last_pass(pipeline.plan), output=output)
        sizes_may_differ = pipeline.beside.sizes_may_differ
        self._one_size = not sizes_may_differ if one_size is None else one_size
        self._notes = _Notes()
        self._maker = BatchMaker(output, _MOST_IDLE)
        self._runner = self._pipeline.make_runner(rules, self._notes)

    def prepare(self, order: OrderedPart) -> PreparedPart:
        """Prepare one part; raises the error that the user should see."""
        source = self._pipeline.source
        batch = Batch(self._maker, order.batch, order.keys, order.samples, one_size=self._one_size)
        slots = np.arange(len(order.keys), dtype=np.int32)
        self._notes.take()
        self._runner.run(
            Part(batch, order.seed, order.epoch, slots, order.keys, order.samples, order.rank)
        )
        prepared = _take(batch, self._notes.take())
        if isinstance(source, ColumnSource):
            source.check_unchanged(batch.samples)
        return prepared

    def close(self) -> None:
        """Stop its threads."""
        self._runner.close()
        self._maker.close()
        self._runner.end()


def without_last_pass(plan: Plan) -> Plan:
    """The plan that ends in uint8, before Normalize and what comes after it."""
    *others, last = plan.segments
    return replace(
        plan,
        segments=(*others, replace(last, finishing=())),
        final=FinalSpec(),
        views=tuple(without_last_pass(view) for view in plan.views),
    )


def _take(batch: Batch, noted: Sequence[tuple[int, str, str]]) -> PreparedPart:
    good = batch.good
    images: Any = ()
    if len(good):
        taken = batch.take_images()
        images = tuple(taken) if batch.output.views else (taken,)
    maps = list(batch.take_label_maps()) if len(good) and batch.has_label_maps else None
    return PreparedPart(
        samples=batch.samples,
        sizes=batch.sizes,
        good=good,
        images=images,
        targets=batch.targets() if len(good) else None,
        masks=batch.take_masks(),
        label_maps=None if maps is None else [_narrow(one) for one in maps],
        noted=tuple(noted),
    )


def _narrow(label_map: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8 | np.uint16]:
    """The numbers of a mask in the fewest bytes; files have no larger ones."""
    fits = int(label_map.max(initial=0)) < 256
    return label_map.astype(np.uint8 if fits else np.uint16)


class _Notes(Ledger):
    """Keeps what each thread noted, until that thread takes it."""

    def __init__(self) -> None:
        super().__init__(0, str)
        self._of_thread = threading.local()

    def note(self, sample: int, event: str, reason: str) -> None:
        """Keep it."""
        self._list().append((sample, event, reason))

    def take(self) -> list[tuple[int, str, str]]:
        """What the calling thread noted since it took the last."""
        noted = self._list()
        self._of_thread.noted = []
        return noted

    def _list(self) -> list[tuple[int, str, str]]:
        if not hasattr(self._of_thread, "noted"):
            self._of_thread.noted = []
        noted: list[tuple[int, str, str]] = self._of_thread.noted
        return noted
