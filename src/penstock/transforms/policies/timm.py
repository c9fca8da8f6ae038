"""RandAugment and AutoAugment as timm has them, with timm's string that describes the first."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import (
    Colour,
    InterpolationMode,
    read_fill,
    read_number,
    read_warp_interpolation,
)
from penstock.transforms.effects import EffectMove
from penstock.transforms.op import ImageOp
from penstock.transforms.policies.ops import (
    NOTHING,
    PolicyOp,
    draw_signs,
    make_scene,
    policy_move,
    posterize,
    tell_ops,
)
from penstock.transforms.policies.spaces import MOST_LEVEL, timm_ops

_WHERE = "RandAugment.from_timm"
_WHERE_AUTO = "TimmAutoAugment"
_GRAY = (128, 128, 128)

# timm's "weights" set: loosely after how much each op helped in the paper.
_WEIGHTS = {
    "Rotate": 3.0,
    "ShearX": 2.0,
    "ShearY": 2.0,
    "TranslateX": 1.0,
    "TranslateY": 1.0,
    **dict.fromkeys(("Color", "Sharpness", "AutoContrast"), 0.25),
    **dict.fromkeys(("Solarize", "SolarizeAdd", "Contrast", "Brightness"), 0.05),
    **dict.fromkeys(("Equalize", "Posterize", "Invert"), 0.05),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """What is drawn for one op of each image: whether it is done, its level, sign and filter."""

    magnitude_std: float  # infinity: even between 0 and the magnitude
    magnitude_max: float
    filters: tuple[int, ...]  # Pillow's numbers, of which one is chosen each time
    colour: Colour

    def draw(
        self,
        draws: Draws,
        sizes: Sizes,
        ops: Sequence[PolicyOp],
        chosen: Ints,
        probability: Floats | float,
        magnitude: Floats,
    ) -> EffectMove:
        """Do the chosen ops with a probability, at levels around a magnitude."""
        done = draws.uniform() < probability
        levels = self._draw_levels(draws, magnitude)
        signs = draw_signs(draws)
        filters = np.array(self.filters)[draws.integers(len(self.filters))]
        scene = make_scene(sizes, filters, self.colour)
        really = np.where(done, chosen, NOTHING)
        move = policy_move(ops, really, levels, signs, scene)
        return tell_ops(draws, ops, really, levels, signs, sizes, move)

    def _draw_levels(self, draws: Draws, magnitude: Floats) -> Floats:
        first, second = draws.units(2)
        levels = magnitude
        if math.isinf(self.magnitude_std):
            levels = magnitude * first
        elif self.magnitude_std > 0:
            normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * math.pi * second)
            levels = magnitude + self.magnitude_std * normal
        return levels.clip(0.0, self.magnitude_max)


@dataclass(frozen=True, slots=True)
class TimmSettings:
    """What a string such as "rand-m9-mstd0.5-inc1" says, and timm's defaults for the rest."""

    magnitude: float = MOST_LEVEL
    magnitude_std: float = 0.0  # infinity: even between 0 and magnitude
    magnitude_max: float = MOST_LEVEL
    num_ops: int = 2
    probability: float = 0.5
    increasing: bool = False
    weighted: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class TimmRandAugment(ImageOp):
    """timm's RandAugment: `config` is "rand" and sections after dashes, in any order.

    m9: magnitude, of 10. n2: ops per image. p0.5: probability of each. mstd0.5: standard deviation
    of the magnitude (above 100: even between 0 and m). mmax10: its limit. inc1: ops that change
    more with a higher magnitude. tweights: weighted choice without repetition, of the same ops.
    `hparams` may hold timm's translate_pct, img_mean (the colour outside), interpolation (one, or
    several to choose from each time), magnitude_std and magnitude_max.
    """

    config: str
    hparams: Mapping[str, Any] | None = None
    _settings: TimmSettings = field(init=False, repr=False, compare=False)
    _translate_pct: float = field(init=False, repr=False, compare=False)
    _turn: Turn = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        hparams = dict(self.hparams or {})
        known = {
            *("translate_pct", "translate_const", "img_mean", "interpolation"),
            *("magnitude_std", "magnitude_max"),
        }
        if unknown := hparams.keys() - known:
            raise TransformError(
                f"{_WHERE}: unknown hparams {sorted(unknown)}. Known are {sorted(known)}."
            )
        settings = _override(_read_config(self.config), hparams)
        levels = settings.magnitude_std, settings.magnitude_max
        fill = hparams.get("img_mean", _GRAY)
        self._keep(
            _settings=settings,
            _translate_pct=read_number(_WHERE, "translate_pct", hparams.get("translate_pct", 0.45)),
            _turn=_read_turn(_WHERE, *levels, hparams.get("interpolation"), fill),
        )

    def __repr__(self) -> str:
        hparams = "" if self.hparams is None else f", {self.hparams!r}"
        return f"RandAugment.from_timm({self.config!r}{hparams})"

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """For each image and turn: an op, whether to do it, its level, sign and filter."""
        settings = self._settings
        ops = timm_ops(increasing=settings.increasing, translate_pct=self._translate_pct)
        chosen = self._choose(draws, [op.name for op in ops])
        moves = []
        magnitude = np.full(len(sizes), settings.magnitude)
        for which in chosen:
            draws.reserve(5)
            odds = settings.probability
            moves.append(self._turn.draw(draws, sizes, ops, which, odds, magnitude))
        return tuple(moves)

    def _choose(self, draws: Draws, names: list[str]) -> Ints:
        """Numbers of ops: (turns, samples)."""
        turns = self._settings.num_ops
        draws.reserve(len(names) if self._settings.weighted else turns)
        if not self._settings.weighted:
            picked = [draws.integers(len(names)) for _ in range(turns)]
            return np.array(picked, dtype=np.int64).reshape(turns, len(draws.samples))
        # Sorted exponential waiting times: the same as choosing by weight, without repetition.
        weights = np.array([_WEIGHTS[name] for name in names])
        waits = -np.log1p(-draws.units(len(names))) / weights[:, None]
        return np.argsort(waits, axis=0)[:turns]


def _read_config(config: str) -> TimmSettings:
    """The settings in a string."""
    kind, *sections = config.split("-") if isinstance(config, str) else [""]
    if kind != "rand":
        raise TransformError(
            f'{_WHERE}: config must begin with "rand", as in "rand-m9-mstd0.5-inc1", '
            f"got {config!r}."
        )
    settings = TimmSettings()
    for section in sections:
        settings = _read_section(settings, section, config)
    if settings.weighted and settings.num_ops > len(_WEIGHTS):
        raise TransformError(
            f"{_WHERE}: {config!r} chooses {settings.num_ops} ops without repetition, "
            f"of {len(_WEIGHTS)}. Lower n."
        )
    return settings


def _read_section(settings: TimmSettings, section: str, config: str) -> TimmSettings:
    if section == "tweights":
        return replace(settings, weighted=True, increasing=True)
    if section in {"t3a", "t3aw"}:
        raise TransformError(
            f'{_WHERE}: "{section}" needs Pillow\'s GaussianBlur, which penstock does not have. '
            f"Use RandomChoice with RandomSolarize, RandomGrayscale and GaussianBlur."
        )
    found = re.fullmatch(r"(mstd|mmax|m|n|p|inc)(\d+\.?\d*)", section)
    if not found:
        raise TransformError(
            f'{_WHERE}: unknown section "{section}" in {config!r}. Known are m, n, p, mstd, mmax '
            f"and inc with a number each, and tweights."
        )
    key, value = found[1], float(found[2])
    if key in {"m", "n", "mmax", "inc"} and not value.is_integer():
        raise TransformError(f'{_WHERE}: "{section}" in {config!r} must have a whole number.')
    changed: dict[str, dict[str, Any]] = {
        "m": {"magnitude": value},
        "n": {"num_ops": int(value)},
        "p": {"probability": value},
        "mstd": {"magnitude_std": math.inf if value > 100 else value},
        "mmax": {"magnitude_max": value or MOST_LEVEL},
        "inc": {"increasing": settings.weighted or bool(value)},
    }
    return replace(settings, **changed[key])


def _override(settings: TimmSettings, hparams: dict[str, Any]) -> TimmSettings:
    """As in timm, hparams take precedence over the string."""
    if "magnitude_std" in hparams:
        settings = replace(settings, magnitude_std=float(hparams["magnitude_std"]))
    if hparams.get("magnitude_max"):
        settings = replace(settings, magnitude_max=float(hparams["magnitude_max"]))
    return settings


def _read_turn(where: str, std: float, most: float, interpolation: Any, fill: Any) -> Turn:
    """`interpolation` is one or several to choose from; None is timm's default."""
    if interpolation is None:
        interpolation = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
    several = interpolation if isinstance(interpolation, (list, tuple)) else (interpolation,)
    filters = tuple(read_warp_interpolation(where, mode) for mode in several)
    return Turn(std, most, filters, read_fill(where, fill))


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
    fill: object = _GRAY
    _ops: tuple[PolicyOp, ...] = field(init=False, repr=False, compare=False)
    _turn: Turn = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ops = named_ops(read_number(_WHERE_AUTO, "translate_pct", self.translate_pct))
        names = {name for policy in self.policies for name, _, _ in policy}
        if unknown := sorted(names - ops.keys()):
            raise TransformError(
                f"{_WHERE_AUTO}: timm's {' and '.join(unknown)} cannot be done by the core."
            )
        levels = self.magnitude_std, self.magnitude_max
        self._keep(
            _ops=tuple(ops.values()),
            _turn=_read_turn(_WHERE_AUTO, *levels, self.interpolation, self.fill),
        )

    def __repr__(self) -> str:
        return f"{_WHERE_AUTO}({len(self.policies)} policies)"

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """A policy for each image; for each of its ops whether it is done, its level and sign."""
        numbers = {name: number for number, name in enumerate(named_ops(self.translate_pct))}
        turns = max(map(len, self.policies))
        op = np.full((len(self.policies), turns), NOTHING)
        probability, magnitude = np.zeros(op.shape), np.zeros(op.shape)
        for row, policy in enumerate(self.policies):
            for turn, (name, *odds_and_strength) in enumerate(policy):
                op[row, turn] = numbers[name]
                probability[row, turn], magnitude[row, turn] = odds_and_strength
        draws.reserve(1 + 5 * turns)
        chosen = draws.integers(len(self.policies))
        draws.tell(sub_policy=chosen)
        moves = []
        for turn in range(turns):
            which, chance = op[chosen, turn], probability[chosen, turn]
            strength = magnitude[chosen, turn]
            moves.append(self._turn.draw(draws, sizes, self._ops, which, chance, strength))
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
        "PosterizeOriginal", posterize, lambda level, _: np.trunc(level / MOST_LEVEL * 4) + 4
    )
    return plain
