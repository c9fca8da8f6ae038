"""AugMix: an image mixed with several augmented versions of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill, read_integer, read_number
from penstock.transforms.dirichlet import draw_weights
from penstock.transforms.effects import Effect, EffectMove, same_effect
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.moves import repeat
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import NOTHING, draw_signs
from penstock.transforms.policy_table import binned_move
from penstock.transforms.torchvision_space import augmix_ops

_MOST_SEVERITY = 10
_MOST_RANDOM_DEPTH = 3


@dataclass(frozen=True, slots=True, repr=False)
class AugMix(ImageOp):
    """Mix an image with `mixture_width` chains of random ops on it (Hendrycks et al., 2019).

    A chain has `chain_depth` ops, or 1 to 3 if that is not positive, of strengths below `severity`
    out of 10; `alpha` shapes the random weights; `all_ops` adds brightness, colour, contrast and
    sharpness. `interpolation` and `fill` (None: black) are for the ops that move pixels.
    """

    severity: int = 3
    mixture_width: int = 3
    chain_depth: int = -1
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fill = None
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        read_integer("AugMix", "severity", self.severity, least=1, most=_MOST_SEVERITY)
        read_integer("AugMix", "mixture_width", self.mixture_width, least=1)
        read_integer("AugMix", "chain_depth", self.chain_depth, least=-1)
        if read_number("AugMix", "alpha", self.alpha, least=0) == 0:
            raise TransformError("AugMix: alpha must be greater than 0, got 0.")
        self._keep(
            _filter=read_warp_interpolation("AugMix", self.interpolation),
            _colour=read_fill("AugMix", self.fill),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """Weights, and for each chain its depth and its ops; weights are float32 as in torch."""
        own, mixed = draw_weights(draws, self.alpha, 2).astype(np.float32)
        shares = draw_weights(draws, self.alpha, int(self.mixture_width)).astype(np.float32)
        moves = [same_effect(Effect.MIX_BEGIN, sizes, own.astype(np.float64))]
        for share in shares:
            moves += self._draw_chain(draws, sizes)
            weight = (share * mixed).astype(np.float64)
            moves.append(same_effect(Effect.MIX_ADD, sizes, weight))
        moves.append(same_effect(Effect.MIX_END, sizes))
        return tuple(moves)

    def _draw_chain(self, draws: Draws, sizes: Sizes) -> list[EffectMove]:
        ops = augmix_ops(with_enhancements=bool(self.all_ops))
        levels = tuple(map(float, range(int(self.severity))))
        look = (self._filter, self._colour)
        is_fixed = self.chain_depth > 0
        most_depth = int(self.chain_depth) if is_fixed else _MOST_RANDOM_DEPTH
        draws.reserve(1 + 3 * most_depth)
        depth = repeat(most_depth, sizes) if is_fixed else 1 + draws.integers(most_depth)
        moves = []
        for turn in range(most_depth):
            chosen = np.where(turn < depth, draws.integers(len(ops)), NOTHING)
            bins, signs = draws.integers(len(levels)), draw_signs(draws)
            moves.append(binned_move(ops, levels, chosen, bins, signs, sizes, look))
        return moves
