"""Targets and masks of a part's samples, which follow their images through the transforms.

Masks make the same moves as their image, with the nearest pixel and a fixed value from outside. The
core looks every pixel of a moved mask up in the one before; `move_by_reference` gives the same by
Pillow, one move at a time, for three masks at once, since Pillow's images have three channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock._core import Effect, Engine, EnginePart
from penstock.data.masks import Masks, count_of
from penstock.data.targets import TargetSource
from penstock.errors import LoaderError
from penstock.geometry import Ints, Sizes
from penstock.loading.batch import Batch, Part
from penstock.loading.fetch import Positions
from penstock.packing.mask_runs import decode_runs
from penstock.planner.lower import lower
from penstock.reference.pipeline import run_moves
from penstock.transforms.effects import WARPS, EffectMove, pack_colour, place_of
from penstock.transforms.moves import Move, PadMove, ResizeMove, out_sizes
from penstock.transforms.targets import Targets

MASK_NUMBER = "mask_number"  # an object's mask among those of its sample, kept as a column
Pixels = npt.NDArray[np.uint8]  # (height, width, 3)

_NEAREST = 0


class PartTargets:
    """Targets and masks of the samples of a part."""

    def __init__(
        self, source: TargetSource | None, part: Part, masks: dict[int, Masks] | None = None
    ) -> None:
        self._part = part
        self._items: Positions = np.arange(len(part.slots), dtype=np.int32)
        self._targets = None if source is None else source.of(part.samples)
        self.masks = masks or {}  # by position in the part
        if self.masks and self._targets is not None and _has_objects(self._targets):
            self._targets = _numbered(self._targets, self.masks, part.samples)

    @property
    def is_empty(self) -> bool:
        """Whether nothing follows the images."""
        return self._targets is None and not self.masks

    def at(self, positions: Positions) -> Targets | None:
        """Return the targets of these samples, which must be among those last kept."""
        if self._targets is None or len(positions) == len(self._items):
            return self._targets
        return self._targets.pick(np.searchsorted(self._items, positions))

    def keep(self, positions: Positions, targets: Targets | None) -> None:
        """Go on with these samples and these targets of theirs."""
        self._items, self._targets = positions, targets

    def wanted_masks(self, positions: Positions) -> list[Ints]:
        """Return which masks of each of the samples last kept still have an object."""
        targets = self._targets
        if targets is None or MASK_NUMBER not in targets.extras:
            return [np.arange(count_of(self.masks[position])) for position in positions.tolist()]
        return np.split(targets.extras[MASK_NUMBER], targets.offsets[1:-1])

    def put_masks(self, positions: Positions, masks: Sequence[Masks]) -> None:
        """Go on with the masks that `wanted_masks` has named for these samples, moved."""
        self.masks.update(zip(positions.tolist(), masks, strict=True))
        if self._targets is not None and MASK_NUMBER in self._targets.extras:
            numbers = np.arange(len(self._targets.owners)) - np.repeat(
                self._targets.offsets[:-1], self._targets.counts
            )
            extras = {**self._targets.extras, MASK_NUMBER: numbers}
            self._targets = replace(self._targets, extras=extras)

    def deliver(self, batch: Batch, positions: Positions) -> None:
        """Hand over the targets and masks of these samples."""
        if not len(positions):
            return
        slots = self._part.slots[positions]
        targets = self.at(positions)
        masks = [self.masks[position] for position in positions.tolist()] if self.masks else None
        if masks is not None and (targets is None or not _has_objects(targets)):
            batch.put_label_maps(slots, [stack[0] for stack in masks])
            masks = None
        if targets is not None:
            left = {name: rows for name, rows in targets.extras.items() if name != MASK_NUMBER}
            batch.put_targets(slots, replace(targets, extras=left), masks)


def _has_objects(targets: Targets) -> bool:
    return targets.boxes is not None or targets.keypoints is not None


def _numbered(targets: Targets, masks: dict[int, Masks], samples: Ints) -> Targets:
    """Number the masks of every sample; there must be one for each object."""
    counts = targets.counts
    for position, stack in masks.items():
        found = count_of(stack)
        if found != counts[position]:
            raise LoaderError(
                f"Loader: sample {int(samples[position])} has {found} masks for {counts[position]} "
                "objects. Pack one for each object, or leave masks out."
            )
    numbers = np.arange(int(targets.offsets[-1])) - targets.offsets[targets.owners]
    return replace(targets, extras={**targets.extras, MASK_NUMBER: numbers})


@dataclass(frozen=True, slots=True)
class MovingMasks:
    """Masks on their way through the core."""

    engine_part: EnginePart
    moved: list[Masks]  # complete when the core's part is


def start_moving(
    engine: Engine,
    rank: int,
    masks: Sequence[Masks],
    wanted: Sequence[Ints],
    moves: Sequence[Move],
    sizes: Sizes,
    fill: int,
) -> MovingMasks:
    """Start to move the wanted masks of each image as `moves` move the image."""
    steps = lower(mask_moves(moves, fill), sizes)
    after = zip(steps.out_sizes.height.tolist(), steps.out_sizes.width.tolist(), strict=True)
    moved = [
        np.empty((len(numbers), height, width), dtype=stack.dtype)
        for stack, numbers, (height, width) in zip(masks, wanted, after, strict=True)
    ]
    engine_part = engine.begin(rank, len(moved))
    numbers = [one.astype(np.int32) for one in wanted]
    engine_part.run_masks(list(masks), numbers, steps.programs(), moved, fill)
    return MovingMasks(engine_part, moved)


def move_by_reference(
    masks: Sequence[Masks], wanted: Sequence[Ints], moves: Sequence[Move], sizes: Sizes, fill: int
) -> list[Masks]:
    """Do the same slowly, by Pillow."""
    stacks = [
        (decode_runs(stack) if stack.ndim == 1 else stack)[numbers]
        for stack, numbers in zip(masks, wanted, strict=True)
    ]
    low = _move_bytes([stack.astype(np.uint8) for stack in stacks], moves, sizes, fill & 255)
    if all(stack.dtype == np.uint8 for stack in stacks):
        return list(low)
    high = _move_bytes(
        [(stack.astype(np.uint16) >> 8).astype(np.uint8) for stack in stacks],
        moves,
        sizes,
        fill >> 8,
    )
    return [
        (above.astype(stack.dtype) << 8 if stack.dtype == np.uint16 else 0) | below
        for stack, above, below in zip(stacks, high, low, strict=True)
    ]


def mask_moves(moves: Sequence[Move], fill: int = 0) -> tuple[Move, ...]:
    """What happens to masks when `moves` happen to their images."""
    changed: list[Move] = []
    mixing: npt.NDArray[np.bool_] | None = None
    fill &= 255  # the low byte; for numbers of two bytes, the core gets the whole fill
    for move in moves:
        match move:
            case PadMove():
                changed.append(replace(move, fill=(fill, fill, fill)))
            case ResizeMove():
                changed.append(replace(move, filter=_NEAREST))
            case EffectMove():
                if mixing is None:
                    mixing = np.zeros(len(move.effect), dtype=np.bool_)
                mixing |= move.does(Effect.MIX_BEGIN)
                changed.append(_mask_effects(move, mixing, pack_colour(fill, fill, fill)))
                mixing &= ~move.does(Effect.MIX_END)
            case _:
                changed.append(move)
    return tuple(changed)


def _move_bytes(
    masks: Sequence[npt.NDArray[np.uint8]], moves: Sequence[Move], sizes: Sizes, fill: int
) -> list[npt.NDArray[np.uint8]]:
    changed = mask_moves(moves, fill)
    after = out_sizes(changed, sizes)
    results = []
    for row, stack in enumerate(masks):
        moved = np.zeros((len(stack), after[row].height, after[row].width), dtype=np.uint8)
        for first in range(0, len(stack), 3):
            some = stack[first : first + 3]
            image: Pixels = np.zeros((*stack.shape[1:], 3), dtype=np.uint8)
            image[:, :, : len(some)] = some.transpose(1, 2, 0)
            done = np.asarray(run_moves(PIL.Image.fromarray(image), changed, row))
            moved[first : first + 3] = done.transpose(2, 0, 1)[: len(some)]
        results.append(moved)
    return results


def _mask_effects(move: EffectMove, mixing: npt.NDArray[np.bool_], colour: int) -> EffectMove:
    effect, numbers = np.full_like(move.effect, Effect.NONE), move.numbers.copy()
    for kind in WARPS:
        rows = (move.effect == kind) & ~mixing
        effect[rows] = kind
        numbers[rows, place_of(kind, "filter")] = _NEAREST
        numbers[rows, place_of(kind, "fill")] = colour
    return EffectMove(effect, numbers, move.height, move.width)
