"""AutoAugment: learnt pairs of ops, one pair an image."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Fill, read_fill
from penstock.transforms.auto_augment_tables import CIFAR10, IMAGENET, SVHN
from penstock.transforms.effects import EffectMove
from penstock.transforms.interpolation import (
    Interpolation,
    InterpolationMode,
    read_warp_interpolation,
)
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import NOTHING, draw_signs
from penstock.transforms.policy_table import binned_move
from penstock.transforms.torchvision_space import (
    Generation,
    TorchvisionFlavor,
    auto_augment_ops,
    read_generation,
)


class AutoAugmentPolicy(Enum):
    """The data sets policies were learnt on; arguments also take the names, and torchvision's."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"

    def __repr__(self) -> str:
        return f"AutoAugmentPolicy.{self.name}"


_TABLES = {
    AutoAugmentPolicy.IMAGENET: IMAGENET,
    AutoAugmentPolicy.CIFAR10: CIFAR10,
    AutoAugmentPolicy.SVHN: SVHN,
}

_LEVELS = tuple(map(float, range(10)))


@dataclass(frozen=True, slots=True)
class SubPolicies:
    """Pairs of ops by number, probabilities and bins: (pairs, 2) each."""

    op: Ints
    probability: Floats
    bin: Ints


@dataclass(frozen=True, slots=True, repr=False)
class AutoAugment(ImageOp):
    """Do a random pair of ops out of those learnt on a data set (Cubuk et al., 2018).

    `interpolation` and `fill` (None: black) are for the ops that move pixels. `flavor`
    "torchvision_v1" solarizes as torchvision's older transforms do.
    """

    policy: AutoAugmentPolicy | str = AutoAugmentPolicy.IMAGENET
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fill = None
    flavor: TorchvisionFlavor = "torchvision"
    _policy: AutoAugmentPolicy = field(init=False, repr=False, compare=False)
    _filter: int = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)
    _generation: Generation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _policy=_read_policy(self.policy),
            _filter=read_warp_interpolation("AutoAugment", self.interpolation),
            _colour=read_fill("AutoAugment", self.fill),
            _generation=read_generation("AutoAugment", self.flavor),
        )

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A pair for each image; for each of its ops whether it is done, and a sign."""
        draws.reserve(5)
        ops, pairs = auto_augment_ops(self._generation), sub_policies(self._policy)
        pair = draws.integers(len(pairs.op))
        look = (self._filter, self._colour)
        moves = []
        for turn in range(2):
            done = draws.uniform() < pairs.probability[pair, turn]
            chosen = np.where(done, pairs.op[pair, turn], NOTHING)
            bins, signs = pairs.bin[pair, turn], draw_signs(draws)
            moves.append(binned_move(ops, _LEVELS, chosen, bins, signs, sizes, look))
        return tuple(moves)


@lru_cache
def sub_policies(policy: AutoAugmentPolicy) -> SubPolicies:
    """The table of a policy as arrays."""
    numbers = {op.name: number for number, op in enumerate(auto_augment_ops())}
    entries = []
    for line in _TABLES[policy].split("\n")[1:-1]:
        for entry in line.split(", "):
            name, probability, *level = entry.split()
            entries.append((numbers[name], float(probability), float(level[0]) if level else 0.0))
    table = np.array(entries).reshape(-1, 2, 3)
    ops, probabilities, bins = np.moveaxis(table, 2, 0)
    return SubPolicies(ops.astype(np.int64), probabilities, bins.astype(np.int64))


def _read_policy(given: object) -> AutoAugmentPolicy:
    value = given.value if isinstance(given, Enum) else given
    for policy in AutoAugmentPolicy:
        if policy.value == value:
            return policy
    names = ", ".join(f'"{policy.value}"' for policy in AutoAugmentPolicy)
    raise TransformError(f"AutoAugment: policy must be one of {names}, got {given!r}.")
