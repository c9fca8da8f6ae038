"""Makes a batch of any epoch again, with threads of its own, and notes what is drawn for it.

Nothing of the loader is touched: its epoch, its ledger and what it keeps stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from penstock.data.column_source import ColumnSource
from penstock.data.columns import TextColumn, columns_of, label_column
from penstock.errors import LoaderError
from penstock.geometry import Ints, Size
from penstock.loading.batch import Batch, BatchMaker, cut_into_parts
from penstock.loading.deliver import Delivery, list_targets
from penstock.loading.failures import Ledger
from penstock.loading.levels import Levels
from penstock.loading.mix import Mixer, drawn_mixing
from penstock.loading.past_batch import PastBatch, Where
from penstock.loading.pipeline import ChosenRules, Pipeline
from penstock.loading.selection import Picked
from penstock.loading.witness import Witness
from penstock.rng import check_key
from penstock.sources import Source
from penstock.transforms.drawn import DrawnOp
from penstock.transforms.values import Layout

_LEFT_OUT = ("skipped", "substituted")


def read_place(epoch: object, step: object) -> None:
    """Raise unless these can be an epoch and a step."""
    for name, value in (("epoch", epoch), ("step", step)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise LoaderError(f"batch_at: {name} must be a whole number from 0, got {value!r}.")
        if name == "epoch":
            check_key(0, value)


@dataclass(frozen=True, slots=True)
class Again:
    """What batches of a loader are made with."""

    pipeline: Pipeline
    rules: ChosenRules
    mixer: Mixer | None
    delivery: Delivery
    seed: int
    one_size: bool  # whether images of different sizes are an error

    def make(self, picked: Picked, where: Where) -> PastBatch:
        """Make the batch that has these samples."""
        pipeline = self.pipeline
        if pipeline.reusing is not None:
            pipeline = replace(pipeline, reusing=pipeline.reusing.anew(keeps=False))
        source = pipeline.source
        ledger, witness = Ledger(len(source), source.name), Witness(pipeline.plan)
        maker = BatchMaker(pipeline.output, most_idle=0)
        runner = pipeline.make_runner(self.rules, ledger, witness)
        try:
            batch = Batch(maker, where.step, picked.keys, picked.samples, one_size=self.one_size)
            for part in cut_into_parts(batch, self.seed, where.epoch, count(), runner.part_size):
                runner.run(part)
            past = self._look_at(batch, where, ledger, witness)
        finally:
            runner.close()
            maker.close()
            runner.end()
        if isinstance(source, ColumnSource):
            source.check_unchanged(picked.samples)
        return past

    def _look_at(self, batch: Batch, where: Where, ledger: Ledger, witness: Witness) -> PastBatch:
        """Mix and deliver a batch, and gather what is known of it."""
        pipeline, good = self.pipeline, batch.good.tolist()
        source, samples = pipeline.source, batch.samples[good]
        plans = pipeline.plan.views or (pipeline.plan,)
        mixing = None if self.mixer is None else self.mixer.mix(batch, self.seed, where.epoch)
        layout, views = pipeline.output.layout, range(len(plans))
        images = [[batch.image(slot, view) for view in views] for slot in good]
        drawn = []
        for position, slot in enumerate(good):
            sizes = [_size_of(image, layout) for image in images[position]]
            steps: Sequence[DrawnOp] = witness.drawn_for(slot, sizes)
            if self.mixer is not None and mixing is not None:
                mixed = drawn_mixing(self.mixer.op, mixing, position, samples, sizes[0])
                steps = (*steps, mixed)
            drawn.append(tuple(steps))
        labels, targets = label_column(source), batch.targets()
        return PastBatch(
            where=where,
            samples=samples,
            names=names_of(source, samples),
            labels=None if labels is None else labels.at(samples),
            targets=None if targets is None else tuple(list_targets(targets, samples, "numpy")),
            drawn=tuple(drawn),
            left_out=tuple(entry for entry in ledger if entry.event in _LEFT_OUT),
            classes=source.classes,
            box_classes=None if pipeline.beside.targets is None else pipeline.beside.classes,
            levels=Levels(images, tuple(plan.final for plan in plans), layout),
            objects=targets,
            batch=self.delivery.deliver(batch),
        )


def _size_of(image: np.ndarray, layout: Layout) -> Size:
    height, width = image.shape[1:] if layout == "chw" else image.shape[:2]
    return Size(height, width)


def names_of(source: Source, samples: Ints) -> tuple[str, ...]:
    """The files of these samples, or what else they are called."""
    named = columns_of(source).get("name")
    if isinstance(named, TextColumn):
        return tuple(named.at(samples))
    return tuple(source.name(sample) for sample in samples.tolist())
