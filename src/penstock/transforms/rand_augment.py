"""RandAugment: some random ops, all of the same strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill, read_integer, read_number
from penstock.transforms.effects import EffectMove
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.level_space import tpu_ops
from penstock.transforms.moves import repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import Scene, draw_signs, policy_move
from penstock.transforms.policy_table import binned_move
from penstock.transforms.timm_augment import TimmRandAugment
from penstock.transforms.torchvision_space import rand_augment_ops

_TPU_FILL = (128, 128, 128)


@dataclass(frozen=True, slots=True, repr=False)
class RandAugment(ImageOp):
    """Do `num_ops` random ops, each of strength `magnitude` (Cubuk et al., 2019).

    `flavor` "torchvision" has fourteen ops and counts `magnitude` in `num_magnitude_bins`, as has
    "torchvision_v1", which solarizes as torchvision's older transforms do; "tpu"
    has the sixteen of the TPU models, with levels to 10 and beyond and no bins; timm's is made by
    `RandAugment.from_timm`. `interpolation` and `fill` (None: black, or gray for "tpu") are for
    the ops that move pixels.
    """

    num_ops: int = 2
    magnitude: float = 9
    num_magnitude_bins: int = 31
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fill = None
    flavor: Literal["torchvision", "torchvision_v1", "tpu"] = "torchvision"
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandAugment"
        read_integer(where, "num_ops", self.num_ops, least=0)
        bins = read_integer(where, "num_magnitude_bins", self.num_magnitude_bins, least=2)
        match self.flavor:
            case "torchvision" | "torchvision_v1":
                if read_integer(where, "magnitude", self.magnitude, least=0) >= bins:
                    raise TransformError(
                        f"{where}: magnitude must be less than num_magnitude_bins = {bins}, "
                        f"got {self.magnitude!r}."
                    )
            case "tpu":
                read_number(where, "magnitude", self.magnitude, least=0)
            case _:
                raise TransformError(
                    f'{where}: flavor must be "torchvision", "torchvision_v1" or "tpu", '
                    f"got {self.flavor!r}. "
                    f'For timm\'s, write RandAugment.from_timm("rand-m9-mstd0.5-inc1").'
                )
        fill = _TPU_FILL if self.flavor == "tpu" and self.fill is None else self.fill
        self._keep(
            _filter=read_warp_interpolation(where, self.interpolation),
            _colour=read_fill(where, fill),
        )

    @staticmethod
    def from_timm(config: str, hparams: Mapping[str, Any] | None = None) -> TimmRandAugment:
        """timm's RandAugment, from the string its `auto_augment` argument takes."""
        return TimmRandAugment(config, hparams)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """An op and a sign for each image and each turn, and a place if a cutout may need one."""
        draw = self._draw_tpu if self.flavor == "tpu" else self._draw_torchvision
        draws.reserve((4 if self.flavor == "tpu" else 2) * int(self.num_ops))
        return tuple(draw(draws, sizes) for _ in range(int(self.num_ops)))

    def _draw_torchvision(self, draws: Draws, sizes: Sizes) -> EffectMove:
        ops = rand_augment_ops(
            int(self.num_magnitude_bins), 1 if self.flavor == "torchvision_v1" else 2
        )
        chosen, signs = draws.integers(len(ops)), draw_signs(draws)
        look = (self._filter, self._colour)
        only_bin = repeat(0, sizes)
        return binned_move(ops, (float(self.magnitude),), chosen, only_bin, signs, sizes, look)

    def _draw_tpu(self, draws: Draws, sizes: Sizes) -> EffectMove:
        ops = tpu_ops()
        chosen, signs, place = draws.integers(len(ops)), draw_signs(draws), draws.units(2)
        scene = Scene(sizes, repeat(self._filter, sizes), self._colour, place)
        return policy_move(ops, chosen, np.full(len(sizes), float(self.magnitude)), signs, scene)
