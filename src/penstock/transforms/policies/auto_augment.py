"""AutoAugment: pairs of ops that were learnt on a data set, one pair for each image."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Fills,
    Generation,
    Interpolation,
    InterpolationMode,
    Look,
    TorchvisionFlavor,
    plain_fill,
    read_generation,
    read_look,
)
from penstock.transforms.effects import EffectMove
from penstock.transforms.inputs import size_of
from penstock.transforms.policies.called import CalledPolicy
from penstock.transforms.policies.ops import NOTHING, binned_move, draw_signs, tell_ops
from penstock.transforms.policies.spaces import auto_augment_ops
from penstock.transforms.torch_draws import chance_up_to, integer

_LEVELS = tuple(map(float, range(10)))


class AutoAugmentPolicy(Enum):
    """The data set that a policy was learnt on; its name or torchvision's enum will do as well."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"

    def __repr__(self) -> str:
        return f"AutoAugmentPolicy.{self.name}"


@dataclass(frozen=True, slots=True)
class SubPolicies:
    """Pairs of ops by number, probabilities and bins: (pairs, 2) each."""

    op: Ints
    probability: Floats
    bin: Ints


@dataclass(frozen=True, slots=True, repr=False)
class AutoAugment(CalledPolicy):
    """Do a random pair of ops out of those learnt on a data set (Cubuk et al., 2018).

    `interpolation` and `fill` (None: black) are for the ops that move pixels. `flavor`
    "torchvision_v1" solarizes as torchvision's older transforms do; it is called by a key, which is
    drawn if none is given.
    """

    policy: AutoAugmentPolicy | str = AutoAugmentPolicy.IMAGENET
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fills = None
    flavor: TorchvisionFlavor = "torchvision"
    _policy: AutoAugmentPolicy = field(init=False, repr=False, compare=False)
    _look: Look = field(init=False, repr=False, compare=False)
    _generation: Generation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._keep(
            _policy=_read_policy(self.policy),
            _look=read_look(
                "AutoAugment", self.interpolation, plain_fill("AutoAugment", self.fill)
            ),
            _generation=read_generation("AutoAugment", self.flavor),
        )

    @property
    def called_by_key(self) -> bool:
        """True for the older transform."""
        return self._generation == 1

    def augment(self, image: Any) -> Any:
        """Draw a pair, and for each of its ops whether it is done, and a sign."""
        size = size_of(image)
        ops, pairs = auto_augment_ops(self._generation), sub_policies(self._policy)
        pair = integer(0, len(pairs.op))
        for turn in range(2):
            if chance_up_to(float(pairs.probability[pair, turn])):
                op = ops[pairs.op[pair, turn]]
                image = self.do(op, int(pairs.bin[pair, turn]), image, size)
        return image

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A pair for each image; for each of its ops whether it is done, and a sign."""
        draws.reserve(5)
        ops, pairs = auto_augment_ops(self._generation), sub_policies(self._policy)
        pair = draws.integers(len(pairs.op))
        draws.tell(sub_policy=pair)
        moves = []
        for turn in range(2):
            done = draws.uniform() < pairs.probability[pair, turn]
            chosen = np.where(done, pairs.op[pair, turn], NOTHING)
            bins, signs = pairs.bin[pair, turn], draw_signs(draws)
            move = binned_move(ops, _LEVELS, chosen, bins, signs, sizes, self._look)
            moves.append(tell_ops(draws, ops, chosen, bins, signs, sizes, move))
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


# A line is a sub-policy: two ops, each with its probability and, if it has levels, its bin of ten.
_TABLES = {
    AutoAugmentPolicy.IMAGENET: """
Posterize 0.4 8, Rotate 0.6 9
Solarize 0.6 5, AutoContrast 0.6
Equalize 0.8, Equalize 0.6
Posterize 0.6 7, Posterize 0.6 6
Equalize 0.4, Solarize 0.2 4
Equalize 0.4, Rotate 0.8 8
Solarize 0.6 3, Equalize 0.6
Posterize 0.8 5, Equalize 1.0
Rotate 0.2 3, Solarize 0.6 8
Equalize 0.6, Posterize 0.4 6
Rotate 0.8 8, Color 0.4 0
Rotate 0.4 9, Equalize 0.6
Equalize 0.0, Equalize 0.8
Invert 0.6, Equalize 1.0
Color 0.6 4, Contrast 1.0 8
Rotate 0.8 8, Color 1.0 2
Color 0.8 8, Solarize 0.8 7
Sharpness 0.4 7, Invert 0.6
ShearX 0.6 5, Equalize 1.0
Color 0.4 0, Equalize 0.6
Equalize 0.4, Solarize 0.2 4
Solarize 0.6 5, AutoContrast 0.6
Invert 0.6, Equalize 1.0
Color 0.6 4, Contrast 1.0 8
Equalize 0.8, Equalize 0.6
""",
    AutoAugmentPolicy.CIFAR10: """
Invert 0.1, Contrast 0.2 6
Rotate 0.7 2, TranslateX 0.3 9
Sharpness 0.8 1, Sharpness 0.9 3
ShearY 0.5 8, TranslateY 0.7 9
AutoContrast 0.5, Equalize 0.9
ShearY 0.2 7, Posterize 0.3 7
Color 0.4 3, Brightness 0.6 7
Sharpness 0.3 9, Brightness 0.7 9
Equalize 0.6, Equalize 0.5
Contrast 0.6 7, Sharpness 0.6 5
Color 0.7 7, TranslateX 0.5 8
Equalize 0.3, AutoContrast 0.4
TranslateY 0.4 3, Sharpness 0.2 6
Brightness 0.9 6, Color 0.2 8
Solarize 0.5 2, Invert 0.0
Equalize 0.2, AutoContrast 0.6
Equalize 0.2, Equalize 0.6
Color 0.9 9, Equalize 0.6
AutoContrast 0.8, Solarize 0.2 8
Brightness 0.1 3, Color 0.7 0
Solarize 0.4 5, AutoContrast 0.9
TranslateY 0.9 9, TranslateY 0.7 9
AutoContrast 0.9, Solarize 0.8 3
Equalize 0.8, Invert 0.1
TranslateY 0.7 9, AutoContrast 0.9
""",
    AutoAugmentPolicy.SVHN: """
ShearX 0.9 4, Invert 0.2
ShearY 0.9 8, Invert 0.7
Equalize 0.6, Solarize 0.6 6
Invert 0.9, Equalize 0.6
Equalize 0.6, Rotate 0.9 3
ShearX 0.9 4, AutoContrast 0.8
ShearY 0.9 8, Invert 0.4
ShearY 0.9 5, Solarize 0.2 6
Invert 0.9, AutoContrast 0.8
Equalize 0.6, Rotate 0.9 3
ShearX 0.9 4, Solarize 0.3 3
ShearY 0.8 8, Invert 0.7
Equalize 0.9, TranslateY 0.6 6
Invert 0.9, Equalize 0.6
Contrast 0.3 3, Rotate 0.8 4
Invert 0.8, TranslateY 0.0 2
ShearY 0.7 6, Solarize 0.4 8
Invert 0.6, Rotate 0.8 4
ShearY 0.3 7, TranslateX 0.9 3
ShearX 0.1 6, Invert 0.6
Solarize 0.7 2, TranslateY 0.6 7
ShearY 0.8 4, Invert 0.8
ShearX 0.7 9, TranslateY 0.8 3
ShearY 0.8 5, AutoContrast 0.7
ShearX 0.7 2, Invert 0.1
""",
}
