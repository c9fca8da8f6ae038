"""The slow way from files to slots: Pillow and NumPy alone, as oracle and fallback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import PIL.Image

from penstock.errors import DecodeError
from penstock.geometry import Ints, Sizes
from penstock.loading.ledger import Ledger
from penstock.loading.options import RunOptions
from penstock.loading.pillow_decode import open_rgb
from penstock.loading.python_calls import PythonCalls
from penstock.loading.reference import Layout, erase_finished, finish, run_moves
from penstock.loading.target_source import TargetSource
from penstock.loading.work import Carrier, Failures, Part
from penstock.planner.plan import Plan
from penstock.sources import Source
from penstock.transforms.effects import EffectMove


class PillowCarrier(Carrier):
    """Does what NativeCarrier does, one Pillow call after the other."""

    def __init__(
        self,
        source: Source,
        plan: Plan,
        layout: Layout,
        options: RunOptions,
        seed: int,
        ledger: Ledger,
        targets: TargetSource | None = None,
    ) -> None:
        super().__init__(ThreadPoolExecutor(options.threads, "penstock-pillow"))
        self._source = source
        self._plan = plan
        self._layout = layout
        self._pixel_limit = options.pixel_limit
        self._seed = seed
        self._targets = targets
        self._python = PythonCalls(source, seed)
        self._failures = Failures(options.on_error, source, ledger)

    def _carry_once(self, part: Part) -> Part | None:
        images, failed = self._open(part)
        if images:
            alive = part.pick(np.array(list(images), dtype=np.int64))
            self._fill(alive, list(images.values()))
        return self._failures.handle(part, failed)

    def _open(self, part: Part) -> tuple[dict[int, PIL.Image.Image], dict[int, str]]:
        opened = [
            self._pool.submit(open_rgb, self._source, sample, self._pixel_limit)
            for sample in part.files.tolist()
        ]
        images: dict[int, PIL.Image.Image] = {}
        failed: dict[int, str] = {}
        for item, future in enumerate(opened):
            try:
                images[item] = future.result()
            except DecodeError as error:
                failed[item] = str(error)
        return images, failed

    def _fill(self, part: Part, images: list[PIL.Image.Image]) -> None:
        targets = self._targets.of(part.files) if self._targets else None
        key = (self._seed, part.epoch, part.samples)
        for segment in self._plan.segments:
            self._check_open()
            moves, targets = segment.sample_targets(*key, _sizes_of(images), targets)
            moved = [
                self._pool.submit(run_moves, image, moves, row) for row, image in enumerate(images)
            ]
            images = [future.result() for future in moved]
            if segment.python is not None:
                called = [
                    self._pool.submit(self._python.call, segment, image, part, item)
                    for item, image in enumerate(images)
                ]
                images = [future.result() for future in called]
        finishing = self._plan.segments[-1].sample_finishing(*key, _sizes_of(images))
        self._write(part, images, finishing)
        if targets is not None:
            part.batch.put_targets(part.slots, targets)

    def _write(
        self, part: Part, images: list[PIL.Image.Image], finishing: tuple[EffectMove, ...]
    ) -> None:
        part.batch.place(_sizes_of(images), part.slots)
        for row, (slot, image) in enumerate(zip(part.slots.tolist(), images, strict=True)):
            finished = finish(image, self._plan.final, self._layout)
            for move in finishing:
                erase_finished(finished, move, row, self._layout)
            target = part.batch.image(slot)
            target[...] = finished.view(target.dtype)


def _sizes_of(images: list[PIL.Image.Image]) -> Sizes:
    return Sizes(_column([image.height for image in images]), _column([i.width for i in images]))


def _column(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)
