"""AutoAugment as timm has it: its own policies, with levels that may be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, read_fill, read_number
from penstock.transforms.effects import EffectMove
from penstock.transforms.level_space import MOST_LEVEL, timm_ops
from penstock.transforms.op import ImageOp
from penstock.transforms.policy_ops import NOTHING, PolicyOp, Scene, draw_signs, policy_move
from penstock.transforms.policy_ops import posterize as posterize_act
from penstock.transforms.timm_augment import draw_levels, read_filters

_WHERE = "TimmAutoAugment"


@dataclass(frozen=True, slots=True, repr=False)
class TimmAutoAugment(ImageOp):
    """Do one of `policies`, each a few ops in a row: (timm's name, probability, magnitude).

    The other arguments are timm's hparams of these names; `interpolation` may be several to choose
    from each time, and `fill` is what it calls img_mean.
    """

    policies: Sequence[Sequence[tuple[str, float, float]]]
    magnitude_std: float = 0.0
    magnitude_max: float = MOST_LEVEL
    translate_pct: float = 0.45
    interpolation: object = None
    fill: object = (128, 128, 128)
    _ops: tuple[PolicyOp, ...] = field(init=False, repr=False, compare=False)
    _filters: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _colour: Colour = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ops = named_ops(read_number(_WHERE, "translate_pct", self.translate_pct))
        names = {name for policy in self.policies for name, _, _ in policy}
        if unknown := sorted(names - ops.keys()):
            raise TransformError(f"{_WHERE}: the core has no {' and no '.join(unknown)} of timm's.")
        self._keep(
            _ops=tuple(ops.values()),
            _filters=read_filters(_WHERE, self.interpolation),
            _colour=read_fill(_WHERE, self.fill),
        )

    def __repr__(self) -> str:
        return f"{_WHERE}({len(self.policies)} policies)"

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A policy for each image; for each of its ops whether it is done, its level and sign."""
        numbers = {name: number for number, name in enumerate(named_ops(self.translate_pct))}
        turns = max(map(len, self.policies))
        op = np.full((len(self.policies), turns), NOTHING)
        probability, magnitude = np.zeros(op.shape), np.zeros(op.shape)
        for row, policy in enumerate(self.policies):
            for turn, (name, chance, strength) in enumerate(policy):
                op[row, turn], probability[row, turn] = numbers[name], chance
                magnitude[row, turn] = strength
        draws.reserve(1 + 5 * turns)
        chosen = draws.integers(len(self.policies))
        moves = []
        for turn in range(turns):
            done = draws.uniform() < probability[chosen, turn]
            levels = draw_levels(
                draws, magnitude[chosen, turn], self.magnitude_std, self.magnitude_max
            )
            signs = draw_signs(draws)
            filters = np.array(self._filters)[draws.integers(len(self._filters))]
            scene = Scene(sizes, filters, self._colour, np.zeros((2, len(sizes))))
            which = np.where(done, op[chosen, turn], NOTHING)
            moves.append(policy_move(self._ops, which, levels, signs, scene))
        return tuple(moves)


@lru_cache
def named_ops(translate_pct: float) -> dict[str, PolicyOp]:
    """The ops by timm's names for them."""
    plain = {op.name: op for op in timm_ops(increasing=False, translate_pct=translate_pct)}
    increasing = {op.name: op for op in timm_ops(increasing=True, translate_pct=translate_pct)}
    for axis in ("X", "Y"):
        plain[f"Translate{axis}Rel"] = plain.pop(f"Translate{axis}")
    for name in ("Posterize", "Solarize", "Color", "Contrast", "Brightness", "Sharpness"):
        plain[f"{name}Increasing"] = increasing[name]
    plain["PosterizeOriginal"] = PolicyOp(
        "PosterizeOriginal", posterize_act, lambda level, _: np.trunc(level / MOST_LEVEL * 4) + 4
    )
    return plain
