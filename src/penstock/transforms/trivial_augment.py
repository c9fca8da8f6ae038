"""TrivialAugment: one random op of a random strength."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill, read_integer
from penstock.transforms.effects import EffectMove
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import draw_signs
from penstock.transforms.policy_table import binned_move
from penstock.transforms.torchvision_space import (
    Generation,
    TorchvisionFlavor,
    read_generation,
    trivial_augment_ops,
)


@dataclass(frozen=True, slots=True, repr=False)
class TrivialAugmentWide(ImageOp):
    """Do one of fourteen ops, at one of `num_magnitude_bins` strengths (Müller and Hutter, 2021).

    `interpolation` and `fill` (None: black) are for the ops that move pixels. `flavor`
    "torchvision_v1" solarizes as torchvision's older transforms do.
    """

    num_magnitude_bins: int = 31
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fill = None
    flavor: TorchvisionFlavor = "torchvision"
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)
    _generation: Generation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "TrivialAugmentWide"
        read_integer(where, "num_magnitude_bins", self.num_magnitude_bins, least=2)
        self._keep(
            _filter=read_warp_interpolation(where, self.interpolation),
            _colour=read_fill(where, self.fill),
            _generation=read_generation(where, self.flavor),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """An op, a bin and a sign for each image."""
        draws.reserve(3)
        count = int(self.num_magnitude_bins)
        ops = trivial_augment_ops(count, self._generation)
        levels = tuple(map(float, range(count)))
        chosen, bins, signs = draws.integers(len(ops)), draws.integers(count), draw_signs(draws)
        look = (self._filter, self._colour)
        return (binned_move(ops, levels, chosen, bins, signs, sizes, look),)
