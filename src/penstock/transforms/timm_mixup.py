"""timm's Mixup: MixUp and CutMix with draws for a batch, for pairs or for single images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Bools, Ints, Size
from penstock.rng import Draws
from penstock.transforms.arguments import read_integer, read_number, read_range
from penstock.transforms.batch_op import BatchOp, Mixing, MixKind, Shares, make_mixing
from penstock.transforms.dirichlet import draw_weights
from penstock.transforms.mix_boxes import draw_box_between, share_left, timm_box
from penstock.transforms.op import told_arguments

_MODES = ("batch", "pair", "elem")
_WHERE = "MixUp.timm"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class TimmMixUp(BatchOp):
    """Mix each image with the one as far from the end of the batch as it is from the start.

    MixUp with shares from Beta(mixup_alpha, mixup_alpha), CutMix with Beta(cutmix_alpha,
    cutmix_alpha), or, if both are above 0, either: CutMix with `switch_prob`. `cutmix_minmax`
    draws the sides of CutMix's boxes between two shares of the image's instead. Nothing happens
    with probability 1 - `prob`. All this is drawn for each "batch", "pair" or "elem" (`mode`).
    `correct_lam` mixes labels by what a box really covers.
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
        """Not if it is all CutMix."""
        return self.mixup_alpha > 0

    @property
    def needs_even(self) -> bool:
        """Pairs must come out even; else the image in the middle is mixed with itself."""
        return self.mode == "pair"

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """Shares of single images are drawn in single precision, a batch's in double, as timm's."""
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
