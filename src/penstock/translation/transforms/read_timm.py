"""timm's own transforms, beside the torchvision ones that its `create_transform` takes.

At the end stand the ops that resize, crop and add borders as timm does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock import transforms as T
from penstock._core import Element
from penstock.errors import TransformError
from penstock.geometry import Bools, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    MAX_SIDE_PX,
    BorderLook,
    Fill,
    Interpolation,
    InterpolationMode,
    PaddingMode,
    read_border_look,
    read_interpolation,
)
from penstock.transforms.moves import CropMove, Move, PadMove, ResizeMove, repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.timm import TimmAutoAugment
from penstock.transforms.values import read_element
from penstock.translation.transforms.identify import class_name, imported
from penstock.translation.transforms.pipeline import Pipeline, Stage, StageError

_MODULES = ("timm.data.transforms", "timm.data.auto_augment", "timm.data.random_erasing")


def read_timm_step(step: Any, pipeline: Pipeline) -> bool:
    """Append what stands for one of timm's transforms; False if it is not known."""
    name = class_name(step)
    if type(step).__module__ not in _MODULES:
        return False
    if name in _VALUE_STEPS:
        pipeline.read(step, _VALUE_STEPS[name])
        return True
    if name not in _IMAGE_STEPS:
        return False
    if not pipeline.has_rgb_pillow:
        raise StageError(f"it meets {pipeline.what_is_met}; known are RGB Pillow images.")
    pipeline.take(step, _IMAGE_STEPS[name](step))
    return True


def erase(step: Any, pipeline: Pipeline) -> None:
    """Append timm's own RandomErasing, which works on finished values."""
    if pipeline.stage != Stage.NUMBERS or pipeline.is_gray:
        raise StageError(f"it meets {pipeline.stage.value}; known are RGB images after Normalize.")
    if step.rand_color:
        raise TransformError(
            "mode 'rand' draws a colour for each rectangle, which ours cannot. Use 'const' or "
            "'pixel'."
        )
    if (step.min_count, step.max_count) != (1, 1):
        raise TransformError(
            f"it erases {step.min_count} to {step.max_count} rectangles, ours one. Leave its count "
            "out."
        )
    low, high = map(math.exp, step.log_aspect_ratio)
    value: float | str = "random" if step.per_pixel else 0.0
    area = (step.min_area, step.max_area)
    pipeline.erasings.append(T.RandomErasing(step.probability, area, (low, high), value))


def _to_scaled(step: Any, pipeline: Pipeline) -> None:
    del step
    if pipeline.stage != Stage.PILLOW:  # it leaves tensors alone
        return
    pipeline.add_to_tensor()


def _to_unscaled(step: Any, pipeline: Pipeline) -> None:
    """`ToTensor(dtype)` of timm's, which does not divide by 255."""
    if pipeline.stage != Stage.PILLOW:
        raise StageError(f"it meets {pipeline.stage.value}, and takes Pillow images.")
    if read_element("ToTensor", step.dtype) == Element.UINT8:
        pipeline.stage = Stage.BYTES
    else:
        pipeline.add_values(T.ToDtype(step.dtype))


def _to_bytes(step: Any, pipeline: Pipeline) -> None:
    del step
    if pipeline.stage == Stage.PILLOW:
        pipeline.stage = Stage.BYTES


def _to_array(step: Any, pipeline: Pipeline) -> None:
    """`ToNumpy`: bytes with the channels first, which a batch has as a tensor all the same."""
    if pipeline.stage != Stage.PILLOW:
        raise StageError(f"it meets {pipeline.stage.value}, and takes Pillow images.")
    _to_bytes(step, pipeline)


_VALUE_STEPS: dict[str, Callable[[Any, Pipeline], None]] = {
    "MaybePILToTensor": _to_bytes,
    "MaybeToTensor": _to_scaled,
    "PILToTensor": _to_bytes,
    "RandomErasing": erase,
    "ToNumpy": _to_array,
    "ToTensor": _to_unscaled,
}


def _resized_crop(step: Any) -> Any:
    return _by_any_filter(
        step.interpolation,
        lambda mode: T.RandomResizedCrop(step.size, tuple(step.scale), tuple(step.ratio), mode),
    )


def _resize_keep_ratio(step: Any) -> Any:
    def make(mode: str) -> ResizeKeepRatio:
        return ResizeKeepRatio(
            tuple(step.size),
            step.longest,
            mode,
            step.random_scale_prob,
            tuple(step.random_scale_range),
            step.random_scale_area,
            step.random_aspect_prob,
            tuple(step.random_aspect_range),
        )

    return _by_any_filter(step.interpolation, make)


def _by_any_filter(given: Any, make: Callable[[str], Any]) -> Any:
    """One transform per filter; several are a random choice: interpolation='random' is two."""
    several = given if isinstance(given, (list, tuple)) else (given,)
    ours = [make(mode.value) for mode in several]
    return ours[0] if len(ours) == 1 else T.RandomChoice(ours)


def _middle(step: Any) -> Any:
    if step.fill == 0 and step.padding_mode == "constant":
        return T.CenterCrop(tuple(step.size))
    return CropOrPad(tuple(step.size), _fill(step.fill), step.padding_mode)


def _anywhere(step: Any) -> CropOrPad:
    return CropOrPad(tuple(step.size), _fill(step.fill), step.padding_mode, anywhere=True)


def _fill(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _rand_augment(step: Any) -> Any:
    """From its ops back to the string that they were made from."""
    first = step.ops[0]
    if any(_settings(op) != _settings(first) for op in step.ops):
        raise TransformError("its ops differ in probability or magnitude, which ours do not.")
    if float(first.magnitude) != int(first.magnitude):
        raise TransformError(f"its magnitude is {first.magnitude}; known are whole numbers.")
    names = [op.name for op in step.ops]
    sections = [f"m{int(first.magnitude)}", f"n{step.num_layers}", f"p{float(first.prob)}"]
    known = imported("timm.data.auto_augment")
    if step.choice_weights is None and names == known._RAND_INCREASING_TRANSFORMS:  # noqa: SLF001
        sections.append("inc1")
    elif step.choice_weights is not None and _has_known_weights(step, names, known):
        sections.append("tweights")
    elif step.choice_weights is not None or names != known._RAND_TRANSFORMS:  # noqa: SLF001
        raise TransformError(
            "ours do not have its set of ops: known are the usual ones, those with inc1, "
            "and tweights."
        )
    return T.RandAugment.from_timm("-".join(["rand", *sections]), _hparams(first))


def _has_known_weights(step: Any, names: list[str], known: Any) -> bool:
    wanted = known._RAND_WEIGHTED_0  # noqa: SLF001  the set called "weights"
    total = sum(wanted.values())
    shares = [weight / total for weight in wanted.values()]
    same = len(shares) == len(step.choice_weights) and all(
        math.isclose(one, other) for one, other in zip(shares, step.choice_weights, strict=True)
    )
    return names == list(wanted) and same


def _hparams(op: Any) -> dict[str, Any]:
    hparams = {"img_mean": _fill(op.kwargs["fillcolor"]), "interpolation": op.kwargs["resample"]}
    hparams["translate_pct"] = op.hparams.get("translate_pct", 0.45)
    if op.magnitude_std:
        hparams["magnitude_std"] = op.magnitude_std
    if op.magnitude_max:
        hparams["magnitude_max"] = op.magnitude_max
    return hparams


def _settings(op: Any) -> tuple[Any, ...]:
    return op.prob, op.magnitude, op.magnitude_std, op.magnitude_max, op.kwargs, op.hparams


def _auto_augment(step: Any) -> TimmAutoAugment:
    first = step.policy[0][0]
    if any(_settings(op)[2:] != _settings(first)[2:] for policy in step.policy for op in policy):
        raise TransformError("its ops differ in their hparams, which ours do not.")
    hparams = _hparams(first)
    return TimmAutoAugment(
        tuple(
            tuple((op.name, float(op.prob), float(op.magnitude)) for op in policy)
            for policy in step.policy
        ),
        magnitude_std=hparams.get("magnitude_std", 0.0),
        magnitude_max=hparams.get("magnitude_max", 10),
        translate_pct=hparams["translate_pct"],
        interpolation=hparams["interpolation"],
        fill=hparams["img_mean"],
    )


def _aug_mix(step: Any) -> Any:
    del step
    raise TransformError(
        "it rounds once for the chains and once for the blend; penstock.transforms.AugMix is "
        "torchvision's, with other ops and one rounding."
    )


_IMAGE_STEPS: dict[str, Callable[[Any], Any]] = {
    "AugMixAugment": _aug_mix,
    "AutoAugment": _auto_augment,
    "CenterCropOrPad": _middle,
    "RandAugment": _rand_augment,
    "RandomCropOrPad": _anywhere,
    "RandomResizedCropAndInterpolation": _resized_crop,
    "ResizeKeepRatio": _resize_keep_ratio,
    "TrimBorder": lambda step: TrimBorder(step.border_size),
}


@dataclass(frozen=True, slots=True, repr=False)
class ResizeKeepRatio(ImageOp):
    """Resize so that the image covers `size`, or with `longest` of 1 so that it fits into it.

    With the probabilities given, the size is changed by a random factor, and the ratio of the sides
    by another.
    """

    size: tuple[int, int]
    longest: float = 0.0
    interpolation: Interpolation = InterpolationMode.BILINEAR
    random_scale_prob: float = 0.0
    random_scale_range: Sequence[float] = (0.85, 1.05)
    random_scale_area: bool = False
    random_aspect_prob: float = 0.0
    random_aspect_range: Sequence[float] = (0.9, 1.11)
    _mode: InterpolationMode = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_mode=read_interpolation("ResizeKeepRatio", self.interpolation))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[ResizeMove]:
        """Two draws decide, two say how much."""
        down, across = sizes.height / self.size[0], sizes.width / self.size[1]
        more, less = np.maximum(down, across), np.minimum(down, across)
        ratio = more * self.longest + less * (1.0 - self.longest)
        draws.reserve(4)
        scaled, scale = draws.uniform() < self.random_scale_prob, draws.uniform()
        turned, aspect = draws.uniform() < self.random_aspect_prob, draws.uniform()
        low, high = self.random_scale_range
        factor = low + (high - low) * scale
        if self.random_scale_area:
            factor = 1.0 / np.sqrt(factor)
        factor = np.where(scaled, factor, 1.0)
        low, high = map(math.log, self.random_aspect_range)
        stretch = np.where(turned, np.sqrt(np.exp(low + (high - low) * aspect)), 1.0)
        height = np.rint(sizes.height * (factor / stretch) / ratio).astype(np.int64)
        width = np.rint(sizes.width * (factor * stretch) / ratio).astype(np.int64)
        bad = (np.minimum(height, width) < 1) | (np.maximum(height, width) > MAX_SIDE_PX)
        _refuse("ResizeKeepRatio", "cannot be resized", bad, draws, sizes)
        return (ResizeMove(height, width, self._mode.pillow_filter),)


@dataclass(frozen=True, slots=True, repr=False)
class CropOrPad(ImageOp):
    """Keep a box of `size`, in the middle or anywhere; where the image is smaller, add a border."""

    size: tuple[int, int]
    fill: Fill = 0
    padding_mode: PaddingMode = "constant"
    anywhere: bool = False
    _look: BorderLook = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(_look=read_border_look("CropOrPad", self.padding_mode, self.fill))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[Move, ...]:
        """Nothing is drawn for the middle; else how far down and across the box or image lies."""
        height, width = self.size
        if self.anywhere:
            draws.reserve(2)
        above, top = self._place(draws, sizes.height, height)
        before, left = self._place(draws, sizes.width, width)
        below = np.maximum(height - sizes.height, 0) - above
        after = np.maximum(width - sizes.width, 0) - before
        border = PadMove(before, above, after, below, *self._look)
        crop = CropMove(top, left, repeat(height, sizes), repeat(width, sizes))
        has_border = (above + below + before + after).any()
        return (border, crop) if has_border else (crop,)

    def _place(self, draws: Draws, have: Ints, want: int) -> tuple[Ints, Ints]:
        """How wide the border before the image is, and where the crop begins after that."""
        lacking, spare = np.maximum(want - have, 0), np.maximum(have - want, 0)
        if self.anywhere:
            drawn = draws.integers(np.abs(have - want) + 1)
            return np.where(lacking > 0, drawn, 0), np.where(spare > 0, drawn, 0)
        return lacking // 2, np.rint(spare / 2.0).astype(np.int64)


@dataclass(frozen=True, slots=True, repr=False)
class TrimBorder(ImageOp):
    """Cut off `border_size` pixels on each side."""

    border_size: int

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[CropMove]:
        """Nothing is drawn."""
        border = repeat(self.border_size, sizes)
        height, width = sizes.height - 2 * border, sizes.width - 2 * border
        _refuse("TrimBorder", "has nothing left", (height < 1) | (width < 1), draws, sizes)
        return (CropMove(border, border, height, width),)


def _refuse(where: str, what: str, bad: Bools, draws: Draws, sizes: Sizes) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise TransformError(
            f"{where} (step {draws.stream + 1}): sample {draws.sample_at(row)} is {sizes[row]} "
            f"here, and {what}. Leave it out, or give other sizes."
        )
