"""MixUp and CutMix: transforms of whole batches that mix images, and labels alike.

torchvision draws once for a batch and mixes each image with the one before it; timm draws for a
batch, for pairs or for single images, and mixes from both ends of the batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from penstock._core import MixKind
from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Ints, Size
from penstock.rng import BATCH_STREAM, Draws
from penstock.transforms.arguments import read_integer, read_number, read_range
from penstock.transforms.batch_op import Mixing, Shares, draws_of_batch, make_mixing
from penstock.transforms.inputs import query_size, read_labels_getter
from penstock.transforms.mix_called import (
    CalledOnBatches,
    mix_by_rows,
    roll_labels,
    soften_by_rows,
)
from penstock.transforms.op import Params, told_arguments
from penstock.transforms.torch_draws import beta, draw_key, integer

_MODES = ("batch", "pair", "elem")
_WHERE = "MixUp.timm"
_NO_BOX = np.zeros((1, 4), dtype=np.int64)
_GAMMA_TRIES = 16  # each of them fits with a probability of 0.95 or more


@dataclass(frozen=True, slots=True, repr=False)
class TimmMixUp(CalledOnBatches):
    """Mix the first image of a batch with the last, the second with the last but one, and so on.

    MixUp with shares from Beta(mixup_alpha, mixup_alpha), CutMix with Beta(cutmix_alpha,
    cutmix_alpha), or, if both are above 0, either: CutMix with `switch_prob`. `cutmix_minmax`
    draws the sides of CutMix's boxes between two shares of the image's instead. Nothing happens
    with probability 1 - `prob`. All this is drawn for each "batch", "pair" or "elem" (`mode`).
    `correct_lam` mixes labels by what a box really covers. Called with images and labels, it draws
    a key from torch's generator, since timm draws from NumPy's.
    """

    mixup_alpha: float = 1.0
    cutmix_alpha: float = 0.0
    cutmix_minmax: tuple[float, float] | None = None
    prob: float = 1.0
    switch_prob: float = 0.5
    mode: str = "batch"
    correct_lam: bool = True
    label_smoothing: float = 0.1
    num_classes: int | None = 1000

    def __post_init__(self) -> None:
        read_number(_WHERE, "mixup_alpha", self.mixup_alpha, least=0)
        read_number(_WHERE, "cutmix_alpha", self.cutmix_alpha, least=0)
        for name in ("prob", "switch_prob", "label_smoothing"):
            read_number(_WHERE, name, getattr(self, name), least=0, most=1)
        if self.num_classes is not None:
            read_integer(_WHERE, "num_classes", self.num_classes, least=1)
        if self.mode not in _MODES:
            raise TransformError(
                f"{_WHERE}: mode must be 'batch', 'pair' or 'elem', got {self.mode!r}."
            )
        if self.cutmix_minmax is not None:
            self._keep(cutmix_minmax=_read_minmax(self.cutmix_minmax), cutmix_alpha=1.0)
        if self.mixup_alpha == self.cutmix_alpha == 0:
            raise TransformError(
                f"{_WHERE}: mixup_alpha and cutmix_alpha are both 0, so nothing would be mixed. "
                "Set one of them above 0, or cutmix_minmax."
            )

    def __repr__(self) -> str:
        return f"{_WHERE}({', '.join(told_arguments(self))})"

    @property
    def blends(self) -> bool:
        """True unless all of it is CutMix."""
        return self.mixup_alpha > 0

    @property
    def needs_even(self) -> bool:
        """True for pairs; in the other modes the image in the middle is mixed with itself."""
        return self.mode == "pair"

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw a key, and by it as the loader does for a batch."""
        height, width = query_size(flat_inputs)
        count = len(flat_inputs[0])
        draws = Draws(draw_key(), 0, np.arange(count, dtype=np.int64), BATCH_STREAM)
        return {"mixing": self.sample(draws, Size(height, width))}

    def mix_labels(self, labels: Any, params: Params) -> Any:
        """Smooth and mix labels."""
        return soften_by_rows(labels, params["mixing"], self.num_classes)

    def mix_images(self, images: Any, params: Params) -> Any:
        """Mix images."""
        return mix_by_rows(images, params["mixing"])

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """Draw shares and boxes; a share of the whole batch is a double, others are float32."""
        count = len(draws.samples)
        if self.needs_even and count % 2:
            raise TransformError(
                f"{_WHERE}: mode='pair' needs an even number of images, but a batch has {count}. "
                "Use an even batch_size with drop_last=True, or mode='elem'."
            )
        rows = {"batch": 1, "pair": count // 2, "elem": count}[self.mode]
        drawn = draws.branch(0, slice(0, rows))
        share, is_cut = self._draw_shares(drawn)
        box = self._draw_boxes(drawn, share, size)
        kind = np.where(share == 1, MixKind.NONE, np.where(is_cut, MixKind.PASTE, MixKind.BLEND))
        if self.correct_lam or self.cutmix_minmax is not None:
            left = share_left(box, size).astype(share.dtype)
            share = np.where(kind == MixKind.PASTE, left, share)
        if self.mode == "pair":
            kind, share, box = (np.concatenate([part, part[::-1]]) for part in (kind, share, box))
        partner = np.arange(count, dtype=np.int64)[::-1]
        return make_mixing(partner, kind, share, box, float(self.label_smoothing))

    def _draw_shares(self, draws: Draws) -> tuple[Shares, Bools]:
        happens, is_cut = draws.uniform() < self.prob, draws.uniform() < self.switch_prob
        if self.mixup_alpha == 0 or self.cutmix_alpha == 0:
            is_cut = np.full(len(is_cut), self.mixup_alpha == 0)
        blended = self._beta(draws, self.mixup_alpha)
        cut = self._beta(draws, self.cutmix_alpha)
        share = np.where(happens, np.where(is_cut, cut, blended), 1.0)
        return (share if self.mode == "batch" else share.astype(np.float32)), is_cut

    def _beta(self, draws: Draws, alpha: float) -> Shares:
        return draw_weights(draws, alpha, 2)[0] if alpha > 0 else np.ones(len(draws.samples))

    def _draw_boxes(self, draws: Draws, share: Shares, size: Size) -> Ints:
        if self.cutmix_minmax is not None:
            return draw_box_between(draws, *self.cutmix_minmax, size)
        return timm_box(share, draws.integers(size.height), draws.integers(size.width), size)


def _read_minmax(given: Any) -> tuple[float, float]:
    least, most = read_range(_WHERE, "cutmix_minmax", given)
    if not 0 <= least < most <= 1:
        raise TransformError(
            f"{_WHERE}: cutmix_minmax must be two shares of the image's sides, rising, between 0 "
            f"and 1, got {given!r}."
        )
    return least, most


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class _TorchvisionMix(CalledOnBatches):
    """The arguments that MixUp and CutMix share."""

    alpha: float = 1.0
    num_classes: int | None = None
    labels_getter: Any = "default"

    def __post_init__(self) -> None:
        where = type(self).__name__
        read_number(where, "alpha", self.alpha, above=0)
        if self.num_classes is not None:
            read_integer(where, "num_classes", self.num_classes, least=1)
        read_labels_getter(where, self.labels_getter)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class MixUp(_TorchvisionMix):
    """Add to each image of a batch, and to its label, some of the image before (Zhang, 2017).

    What it keeps of its own is drawn for the batch from Beta(alpha, alpha). Labels become float32
    (batch, num_classes). `labels_getter` says where labels are when it is called.
    `MixUp.timm` makes timm's Mixup: MixUp, CutMix or either, for batches, pairs or single images.
    """

    timm: ClassVar[type[TimmMixUp]] = TimmMixUp

    @property
    def blends(self) -> bool:
        """True: it adds up images."""
        return True

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw what is kept."""
        del flat_inputs
        return {"lam": beta(float(self.alpha))}

    def mix_labels(self, labels: Any, params: Params) -> Any:
        """Mix labels."""
        return roll_labels(labels, params["lam"], self.num_classes)

    def mix_images(self, images: Any, params: Params) -> Any:
        """Mix images."""
        own = params["lam"]
        return images.roll(1, 0).mul_(1.0 - own).add_(images.mul(own))

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """One share for the batch."""
        del size
        share = draw_weights(draws_of_batch(draws), self.alpha, 2)[0]
        return make_mixing(_roll(len(draws.samples)), MixKind.BLEND, share, _NO_BOX)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class CutMix(_TorchvisionMix):
    """Paste a box of the image before into each image of a batch (Yun et al., 2019).

    The box is drawn for the batch; it covers 1 - Beta(alpha, alpha) of the image, less what sticks
    out, and labels are mixed by what it really covers. They become float32 (batch, num_classes).
    `labels_getter` says where labels are when it is called.
    """

    @property
    def blends(self) -> bool:
        """False: it only copies pixels."""
        return False

    def make_params(self, flat_inputs: list[Any]) -> Params:
        """Draw the box."""
        kept = beta(float(self.alpha))
        height, width = query_size(flat_inputs)
        x, y = integer(0, width), integer(0, height)
        reach = 0.5 * math.sqrt(1.0 - kept)
        half_width, half_height = int(reach * width), int(reach * height)
        left, right = max(x - half_width, 0), min(x + half_width, width)
        top, bottom = max(y - half_height, 0), min(y + half_height, height)
        left_over = 1.0 - (right - left) * (bottom - top) / (width * height)
        return {"box": (left, top, right, bottom), "lam_adjusted": left_over}

    def mix_labels(self, labels: Any, params: Params) -> Any:
        """Mix labels by what the box covers."""
        return roll_labels(labels, params["lam_adjusted"], self.num_classes)

    def mix_images(self, images: Any, params: Params) -> Any:
        """Paste the box."""
        left, top, right, bottom = params["box"]
        output = images.clone()
        output[..., top:bottom, left:right] = images.roll(1, 0)[..., top:bottom, left:right]
        return output

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """One box for the batch."""
        once = draws_of_batch(draws)
        share = draw_weights(once, self.alpha, 2)[0]
        centre_y, centre_x = once.integers(size.height), once.integers(size.width)
        box = torchvision_box(share, centre_y, centre_x, size)
        return make_mixing(_roll(len(draws.samples)), MixKind.PASTE, share_left(box, size), box)


def _roll(count: int) -> Ints:
    """Each image's partner is the one before it."""
    return (np.arange(count, dtype=np.int64) - 1) % count


def torchvision_box(share: Shares, centre_y: Ints, centre_x: Ints, size: Size) -> Ints:
    """A box of the image's shape around a pixel, leaving `share` of the image: (boxes, 4).

    What sticks out is cut off. Half of each side is rounded down, so sides are even.
    """
    reach = 0.5 * np.sqrt(1 - share)
    half_height = (reach * size.height).astype(np.int64)
    half_width = (reach * size.width).astype(np.int64)
    return _clipped(
        (centre_y - half_height, centre_y + half_height),
        (centre_x - half_width, centre_x + half_width),
        size,
    )


def timm_box(share: Shares, centre_y: Ints, centre_x: Ints, size: Size) -> Ints:
    """The same as `torchvision_box`, but whole sides are rounded down, not half of them."""
    ratio = np.sqrt(1 - share)
    height = (size.height * ratio).astype(np.int64)
    width = (size.width * ratio).astype(np.int64)
    return _clipped(
        (centre_y - height // 2, centre_y + (height + 1) // 2),
        (centre_x - width // 2, centre_x + (width + 1) // 2),
        size,
    )


def draw_box_between(draws: Draws, least: float, most: float, size: Size) -> Ints:
    """A box inside the image, each side drawn between two shares of the image's: (boxes, 4).

    The longest is one pixel short of `most`, as in timm.
    """
    height = _draw_side(draws, least, most, size.height, size)
    width = _draw_side(draws, least, most, size.width, size)
    top = draws.integers(size.height - height + 1)
    left = draws.integers(size.width - width + 1)
    return np.stack([top, left, height, width], axis=1)


def share_left(box: Ints, size: Size) -> Floats:
    """How much of the image lies outside each box."""
    left: Floats = 1.0 - box[:, 2] * box[:, 3] / (size.height * size.width)
    return left


def _draw_side(draws: Draws, least: float, most: float, side: int, size: Size) -> Ints:
    shortest, limit = int(side * least), int(side * most)
    if shortest >= limit:
        raise TransformError(
            f"MixUp.timm: cutmix_minmax=({least}, {most}) leaves no length to choose from in an "
            f"image of {size}. Set the two wider apart."
        )
    return shortest + draws.integers(limit - shortest)


def _clipped(rows: tuple[Ints, Ints], columns: tuple[Ints, Ints], size: Size) -> Ints:
    top, bottom = (np.clip(edge, 0, size.height) for edge in rows)
    left, right = (np.clip(edge, 0, size.width) for edge in columns)
    return np.stack([top, left, bottom - top, right - left], axis=1)


def draw_weights(draws: Draws, alpha: float, count: int) -> Floats:
    """Dirichlet weights with `count` equal parameters, for each sample: (count, samples).

    The first of two is Beta(alpha, alpha).
    """
    logs = np.stack([_draw_log_gamma(draws, alpha) for _ in range(count)])
    parts = np.exp(logs - logs.max(axis=0))
    share: Floats = parts / parts.sum(axis=0)
    return share


def _draw_log_gamma(draws: Draws, alpha: float) -> Floats:
    """Logarithms of gamma variates by Marsaglia and Tsang's method (2000), the first try that fits.

    Below 1, by way of alpha + 1; the variates themselves would often be too small for a double.
    All tries are drawn at once, so that every sample uses the same number of draws.
    """
    if alpha == 1:
        smallest = np.finfo(np.float64).tiny
        exponential: Floats = np.log(np.maximum(-np.log1p(-draws.uniform()), smallest))
        return exponential
    boosted = alpha + 1 if alpha < 1 else alpha
    d = boosted - 1 / 3
    drawn = draws.units(3 * _GAMMA_TRIES + 1)
    radius, turn, judge = (1 - drawn[part:-1:3] for part in range(3))
    normal = np.sqrt(-2 * np.log(radius)) * np.cos(2 * math.pi * turn)
    cube = np.maximum(1 + normal / math.sqrt(9 * d), 1e-100) ** 3
    fits = np.log(judge) < 0.5 * normal**2 + d - d * cube + d * np.log(cube)
    first = fits.argmax(axis=0)
    log_gamma: Floats = np.log(d * cube[first, np.arange(cube.shape[1])])
    return log_gamma + np.log(1 - drawn[-1]) / alpha if alpha < 1 else log_gamma
