"""MixUp and CutMix as torchvision does them: one draw a batch, each image with the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.errors import TransformError
from penstock.geometry import Size
from penstock.rng import Draws
from penstock.transforms.arguments import read_integer, read_number
from penstock.transforms.batch_op import BatchOp, Mixing, MixKind, draws_of_batch, make_mixing, roll
from penstock.transforms.dirichlet import draw_weights
from penstock.transforms.mix_boxes import NO_BOX, share_left, torchvision_box
from penstock.transforms.timm_mixup import TimmMixUp


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class MixUp(BatchOp):
    """Add to each image of a batch, and to its label, some of the image before (Zhang, 2017).

    What it keeps of its own is drawn for the batch from Beta(alpha, alpha). Labels become float32
    (batch, num_classes). `labels_getter` is taken for torchvision's sake and changes nothing.
    `MixUp.timm` has timm's choices.
    """

    alpha: float = 1.0
    num_classes: int | None = None
    labels_getter: Any = "default"

    def __post_init__(self) -> None:
        _check_arguments("MixUp", self.alpha, self.num_classes)

    @property
    def blends(self) -> bool:
        """It does nothing else."""
        return True

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """One share for the batch."""
        del size
        share = draw_weights(draws_of_batch(draws), self.alpha, 2)[0]
        return make_mixing(roll(len(draws.samples)), MixKind.BLEND, share, NO_BOX)

    @staticmethod
    def timm(
        mixup_alpha: float = 1.0,
        cutmix_alpha: float = 0.0,
        cutmix_minmax: tuple[float, float] | None = None,
        prob: float = 1.0,
        switch_prob: float = 0.5,
        mode: str = "batch",
        correct_lam: bool = True,
        label_smoothing: float = 0.1,
        num_classes: int | None = 1000,
    ) -> TimmMixUp:
        """Return timm's Mixup: MixUp, CutMix or either, for batches, pairs or single images."""
        return TimmMixUp(
            mixup_alpha=mixup_alpha,
            cutmix_alpha=cutmix_alpha,
            cutmix_minmax=cutmix_minmax,
            prob=prob,
            switch_prob=switch_prob,
            mode=mode,
            correct_lam=correct_lam,
            label_smoothing=label_smoothing,
            num_classes=num_classes,
        )


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class CutMix(BatchOp):
    """Paste a box of the image before into each image of a batch (Yun et al., 2019).

    The box is drawn for the batch; it covers 1 - Beta(alpha, alpha) of the image, less what sticks
    out, and labels are mixed by what it really covers. They become float32 (batch, num_classes).
    `labels_getter` is taken for torchvision's sake and changes nothing.
    """

    alpha: float = 1.0
    num_classes: int | None = None
    labels_getter: Any = "default"

    def __post_init__(self) -> None:
        _check_arguments("CutMix", self.alpha, self.num_classes)

    @property
    def blends(self) -> bool:
        """It only copies."""
        return False

    def sample(self, draws: Draws, size: Size) -> Mixing:
        """One box for the batch."""
        once = draws_of_batch(draws)
        share = draw_weights(once, self.alpha, 2)[0]
        centre_y, centre_x = once.integers(size.height), once.integers(size.width)
        box = torchvision_box(share, centre_y, centre_x, size)
        return make_mixing(roll(len(draws.samples)), MixKind.PASTE, share_left(box, size), box)


def _check_arguments(where: str, alpha: Any, num_classes: Any) -> None:
    if read_number(where, "alpha", alpha, least=0) == 0:
        raise TransformError(f"{where}: alpha must be greater than 0, got 0.")
    if num_classes is not None:
        read_integer(where, "num_classes", num_classes, least=1)
