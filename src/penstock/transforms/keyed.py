"""Calls with a key: one sample exactly as the loader would make it.

The steps of a pipeline are counted as the loader counts them, each draws from the stream of its
number, and the moves are done one after the other. As in the loader, images are RGB and 8 bits
deep until ToDtype, ToTensor or Normalize, and one of them makes a tensor of the image.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from PIL import Image

from penstock._core import Element
from penstock.errors import TransformError, TransformTypeError
from penstock.geometry import Ints, Sizes
from penstock.rng import MAX_STREAMS, Draws
from penstock.transforms.apply_moves import apply_moves, apply_to_mask, run_final
from penstock.transforms.containers import MultiView, Op, flatten
from penstock.transforms.conversions import (
    Conversion,
    Form,
    PILToTensor,
    ToImage,
    ToPILImage,
    ToPureTensor,
)
from penstock.transforms.filter import RandomErasing
from penstock.transforms.inputs import (
    ARRAY,
    EVERYTHING,
    IMAGE,
    IMAGES,
    PILLOW,
    TENSOR,
    chosen_kinds,
    kind_of,
    plain,
)
from penstock.transforms.inputs import flatten as flatten_inputs
from penstock.transforms.keyed_targets import KeyedTargets
from penstock.transforms.move_targets import move_targets
from penstock.transforms.op import BoxOp, Key, TargetOp, Transform
from penstock.transforms.python_step import PythonStep, library_of
from penstock.transforms.torch_draws import get_torch, torch_is_installed
from penstock.transforms.values import FinalOp, ToDtype, reduce_final

Numbered = list[tuple[int, Op]]  # steps with their streams


def call_with_key(transform: Transform, inputs: tuple[Any, ...], key: Key) -> Any:
    """The sample that the loader makes of `inputs` for a seed, an epoch and a number of a sample.

    With MultiView it is a list with one for each view.
    """
    name = type(transform).__name__
    seed, epoch, number = _read_key(name, key)
    sample = inputs if len(inputs) > 1 else inputs[0]
    values, rebuild = flatten_inputs(sample)
    start = _open(name, sample, values)
    pipelines = list(_number(list(flatten(transform))))
    results = [_Run(name, seed, epoch, number, start).do(steps) for steps in pipelines]
    outputs = [rebuild(result.fill_in(values)) for result in results]
    return outputs if _has_views(transform) else outputs[0]


def _read_key(name: str, key: Any) -> Key:
    whole = isinstance(key, Sequence) and all(
        isinstance(part, Integral) and not isinstance(part, bool) for part in key
    )
    if not whole or len(key) != 3 or min(key) < 0:
        raise TransformError(
            f"{name}: key must be three whole numbers, (seed, epoch, sample), got {key!r}."
        )
    return int(key[0]), int(key[1]), int(key[2])


def _has_views(transform: Transform) -> bool:
    return any(isinstance(step, MultiView) for step in flatten(transform))


def _number(steps: list[Any]) -> Iterator[Numbered]:
    """The steps with their streams; with MultiView once for each view, counted on and on."""
    places = [place for place, step in enumerate(steps) if isinstance(step, MultiView)]
    if not places:
        yield _checked(list(enumerate(steps)))
        return
    if len(places) > 1:
        raise TransformError("MultiView: there are two of them. Write all views in one list.")
    before, after = steps[: places[0]], steps[places[0] + 1 :]
    count = len(before)
    for view in steps[places[0]].views:
        own = [*flatten(view), *after]
        yield _checked([*enumerate(before), *enumerate(own, start=count)])
        count += len(own)


def _checked(steps: Numbered) -> Numbered:
    if steps and steps[-1][0] >= MAX_STREAMS:
        raise TransformError(f"A pipeline may have {MAX_STREAMS} steps, got more.")
    return steps


@dataclass(frozen=True, slots=True)
class Sample:
    """What is made of a sample while its steps are done."""

    image: Image.Image
    place: int  # of the image among the values
    kind: int  # what to make of it at the end: PILLOW, ARRAY, TENSOR or IMAGE
    targets: KeyedTargets
    finished: Any = None  # its values, once the final pass has been done

    def fill_in(self, values: Sequence[Any]) -> list[Any]:
        """The values of the sample, with what has changed."""
        filled = self.targets.fill_in(values, (self.image.height, self.image.width))
        filled[self.place] = self._result(values[self.place])
        return filled

    def _result(self, given: Any) -> Any:
        if self.finished is not None:
            return _as_image(self.finished) if self.kind == IMAGE else self.finished
        if self.kind == PILLOW:
            return self.image
        pixels = np.array(self.image)
        if self.kind == ARRAY:
            return pixels
        tensor = get_torch().from_numpy(pixels).permute(2, 0, 1).contiguous()
        if kind_of(given) & (TENSOR | IMAGE):
            tensor = tensor.to(given.device)
        return _as_image(tensor) if self.kind == IMAGE else tensor


def _as_image(tensor: Any) -> Any:
    """torchvision's Image of a tensor, where torchvision is loaded."""
    tv_tensors = sys.modules.get("torchvision.tv_tensors")
    return tensor if tv_tensors is None else tv_tensors.Image(tensor)


def _open(name: str, sample: Any, values: Sequence[Any]) -> Sample:
    """Find the image of a sample and its targets."""
    kinds = chosen_kinds(values, EVERYTHING)
    places = [place for place, kind in enumerate(kinds) if kind & IMAGES]
    if len(places) != 1:
        raise TransformTypeError(
            f"{name}: a call with a key needs one image in the sample, got {len(places)}. Give one."
        )
    place = places[0]
    image = _to_rgb(name, values[place], kinds[place])
    size = image.height, image.width
    return Sample(image, place, kinds[place], KeyedTargets.find(name, sample, values, size))


def _to_rgb(name: str, value: Any, kind: int) -> Image.Image:
    if kind == PILLOW:
        rgb: Image.Image = value if value.mode == "RGB" else value.convert("RGB")
        return rgb
    if kind == ARRAY:
        pixels = value
    elif kind & (TENSOR | IMAGE) and value.ndim == 3:
        pixels = plain(value).permute(1, 2, 0).cpu().numpy()
    else:
        pixels = np.zeros(0)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise TransformTypeError(
            f"{name}: a call with a key does what the loader does, to RGB images of 8 bits: Pillow "
            f"images, uint8 arrays of height x width x 3, or uint8 tensors of 3 x height x width. "
            f"Got {type(value).__name__} of {getattr(value, 'dtype', 'frames')}, "
            f"{tuple(value.shape)}. Call without a key, or convert it first."
        )
    return Image.fromarray(np.ascontiguousarray(pixels))


class _Run:
    """The steps of one pipeline on one sample."""

    def __init__(self, name: str, seed: int, epoch: int, number: int, start: Sample) -> None:
        self._name = name
        self._seed, self._epoch = seed, epoch
        self._number: Ints = np.array([number], dtype=np.int64)
        self._sample = start
        self._final: list[tuple[int, FinalOp]] = []
        self._erasings: list[tuple[int, RandomErasing]] = []

    def do(self, steps: Numbered) -> Sample:
        """Do them all, and the final pass if there is one."""
        form = Form()
        for stream, op in steps:
            is_bytes = isinstance(op, ToDtype) and op.element == Element.UINT8
            if is_bytes and not self._final:
                continue
            form.follow(stream, op)
            self._do(stream, op)
        if self._final:
            self._finish()
        return self._sample

    def _do(self, stream: int, op: Op) -> None:
        where = (
            f"{op.name if isinstance(op, PythonStep) else type(op).__name__} (step {stream + 1})"
        )
        if isinstance(op, Conversion):
            self._convert(op)
        elif isinstance(op, FinalOp):
            if self._erasings:
                raise TransformError(
                    f"{where}: comes after RandomErasing, whose value it would change. "
                    "Move RandomErasing to the end."
                )
            self._final.append((stream, op))
        elif self._final and isinstance(op, RandomErasing):
            self._erasings.append((stream, op))
        elif self._final and not isinstance(op, BoxOp):
            raise TransformError(
                f"{where}: comes after {type(self._final[0][1]).__name__}, which ends the work on "
                "pixels. Move it before that."
            )
        elif isinstance(op, PythonStep):
            self._call(where, stream, op)
        else:
            self._move(stream, op)

    def _convert(self, op: Conversion) -> None:
        kind = self._sample.kind
        if isinstance(op, ToImage):
            kind = IMAGE
        elif isinstance(op, ToPILImage):
            kind = PILLOW
        elif kind == (IMAGE if isinstance(op, ToPureTensor) else PILLOW):
            kind = TENSOR if isinstance(op, (ToPureTensor, PILToTensor)) else kind
        self._sample = replace(self._sample, kind=kind)

    def _call(self, where: str, stream: int, op: PythonStep) -> None:
        if (library := library_of(op.function)) is not None:
            raise TransformError(
                f"{where}: is {library}'s, whose draws have no keys. Write ours of that name, or "
                "call without a key."
            )
        rng = self._draws(stream).generator(0)
        self._sample = replace(
            self._sample, image=op.apply(self._sample.image, rng, step=stream + 1)
        )

    def _move(self, stream: int, op: Any) -> None:
        """Draw the moves of a step, and do them to the image and to all that follows it."""
        sample, draws = self._sample, self._draws(stream)
        sizes = _sizes_of(sample.image)
        targets = sample.targets.objects
        if targets is None or not isinstance(op, TargetOp):
            moves = op.sample(draws, sizes)
            targets = None if targets is None else move_targets(moves, targets, sizes)
        else:
            moves, targets = op.sample_targets(draws, sizes, targets)
        where = f"{type(op).__name__} (step {stream + 1})"
        masks = {
            place: apply_to_mask(mask, moves, where) for place, mask in sample.targets.masks.items()
        }
        self._sample = replace(
            sample,
            image=apply_moves(sample.image, moves),
            targets=replace(sample.targets, objects=targets, masks=masks),
        )

    def _finish(self) -> None:
        sample = self._sample
        sizes = _sizes_of(sample.image)
        spec = reduce_final(self._final)
        moves = [
            move for stream, op in self._erasings for move in op.sample(self._draws(stream), sizes)
        ]
        values: Any = run_final(sample.image, spec, moves)
        if torch_is_installed():
            torch = get_torch()
            values = torch.from_numpy(values)
            if spec.element == Element.BFLOAT16:
                values = values.view(torch.bfloat16)
        elif spec.element == Element.BFLOAT16:
            raise TransformError(f"{self._name}: bfloat16 needs torch. Install torch.")
        self._sample = replace(sample, finished=values)

    def _draws(self, stream: int) -> Draws:
        return Draws(self._seed, self._epoch, self._number, stream)


def _sizes_of(image: Image.Image) -> Sizes:
    return Sizes(np.array([image.height]), np.array([image.width]))
