"""What was drawn for pixels: the effects of a batch, one for each sample, as arrays.

Unlike other moves, an `EffectMove` may have a different effect for every sample, as policies such
as RandAugment need. The table of effects, their numbers and the names of their
parameters is the core's (cpp/base/effects.def); here parameters are written and read by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import EFFECT_NUMBERS, Effect, EffectFamily, effect_table
from penstock.errors import TransformError
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.rng import Words

if TYPE_CHECKING:
    from penstock.transforms.moves import Move

__all__ = [
    "ROOM",
    "WARPS",
    "EffectMove",
    "effect_where",
    "mixed_effects",
    "no_numbers",
    "only_where",
    "pack_colour",
    "parameter_names",
    "place_of",
    "read_parameters",
    "room_for",
    "same_effect",
    "split_key",
    "write_parameters",
]

# One number for all samples or one for each; for a parameter of several numbers, its last axis
# has them, or it is a sequence of them.
Value: TypeAlias = "npt.NDArray[Any] | Sequence[Floats | Ints | float] | float"

_PLACES: dict[Effect, dict[str, int | slice]] = {}
_REQUIRED: dict[Effect, frozenset[str]] = {}
for _effect, _family, _parameters in effect_table():
    _ends = np.cumsum([count for _, count, _ in _parameters]).tolist()
    _PLACES[_effect] = {
        name: end - 1 if count == 1 else slice(end - count, end)
        for (name, count, _), end in zip(_parameters, _ends, strict=True)
    }
    _REQUIRED[_effect] = frozenset(name for name, _, optional in _parameters if not optional)

# How many numbers the parameters of an effect are, to be indexed by effects.
ROOM = np.zeros(1 + max(_PLACES), dtype=np.int64)
for _effect, _, _parameters in effect_table():
    ROOM[_effect] = sum(count for _, count, _ in _parameters)

# NumPy takes six times as long to compare with a member of an enum as with a number.
_NONE = int(Effect.NONE)

# Effects that move pixels, so that masks follow; all have a `filter` and a `fill`.
WARPS = tuple(effect for effect, family, _ in effect_table() if family == EffectFamily.WARP)


@dataclass(frozen=True, slots=True)
class EffectMove:
    """One effect for each sample."""

    effect: Ints  # of Effect; NONE where nothing happens
    # (samples, room for any effect's parameters); what an effect does not use is 0, and where there
    # is none they mean nothing.
    numbers: Floats
    height: Ints  # after the effect; only AFFINE and PERSPECTIVE may change sizes
    width: Ints
    # In a plan, on one effect of it: all that are tables wait until their pixels are needed
    # (planner.rules.tables).
    tables_wait: bool = False
    # In a plan: its statistic is taken by the pass that writes the image before it.
    counts_early: Bools | bool = False
    # In a plan: moves that make, from the image as it was read, a small version of what the effect
    # sees. Contrast whose mean is NaN takes the mean of that.
    measured_on: tuple[Move, ...] | None = None

    def out_sizes(self, sizes: Sizes) -> Sizes:
        """The sizes after the move."""
        del sizes
        return Sizes(self.height, self.width)

    @property
    def acts(self) -> Bools:
        """Which samples have any effect."""
        return np.asarray(self.effect != _NONE)

    def does(self, effect: Effect) -> Bools:
        """Which samples have this effect."""
        return np.asarray(self.effect == int(effect))

    def values(self, effect: Effect, name: str) -> Floats:
        """A parameter of all samples, as `effect` has it; meaningless for those with another."""
        return self.numbers[:, place_of(effect, name)]

    def at(self, rows: Ints) -> EffectMove:
        """The effects of some samples; not for moves of a plan."""
        return EffectMove(
            self.effect[rows], self.numbers[rows], self.height[rows], self.width[rows]
        )

    def parameters(self, row: int) -> dict[str, Any]:
        """The parameters of one sample's effect: numbers, and lists of numbers."""
        return read_parameters(Effect(self.effect[row]), self.numbers[row])


def parameter_names(effect: Effect) -> tuple[str, ...]:
    """The parameters of an effect, in their order."""
    return tuple(_PLACES[effect])


def place_of(effect: Effect, name: str) -> int | slice:
    """Where the numbers of an effect hold this parameter."""
    try:
        return _PLACES[effect][name]
    except KeyError:
        raise _misnamed(effect, [name]) from None


def room_for(effect: Effect, name: str) -> int:
    """How many numbers this parameter has."""
    place = place_of(effect, name)
    return place.stop - place.start if isinstance(place, slice) else 1


def read_parameters(effect: Effect, numbers: Floats) -> dict[str, Any]:
    """The parameters of an effect by name, from its numbers."""
    return {name: numbers[place].tolist() for name, place in _PLACES[effect].items()}


def write_parameters(effect: Effect, numbers: Floats, **parameters: Value) -> None:
    """Write parameters of an effect into its numbers, whose last axis has room for them."""
    for name, value in parameters.items():
        place = place_of(effect, name)
        if isinstance(value, Sequence):
            numbers[..., place] = np.stack(np.broadcast_arrays(*value), axis=-1)
        else:
            numbers[..., place] = value


def no_numbers(samples: int) -> Floats:
    """Numbers for effects that are written later."""
    return np.zeros((samples, EFFECT_NUMBERS))


def same_effect(effect: Effect, sizes: Sizes, **parameters: Value) -> EffectMove:
    """One effect for all samples."""
    return mixed_effects(np.full(len(sizes), int(effect)), sizes, [effect], **parameters)


def mixed_effects(
    effects: Ints, sizes: Sizes, kinds: Sequence[Effect], **parameters: Value
) -> EffectMove:
    """An effect for each sample, all of them of `kinds`, which take the same parameters."""
    for kind in kinds:
        if missing := _REQUIRED[kind] - set(parameters):
            raise _misnamed(kind, parameters, missing)
    numbers = no_numbers(len(sizes))
    write_parameters(kinds[0], numbers, **parameters)
    return EffectMove(effects, numbers, sizes.height, sizes.width)


def only_where(chosen: Bools, move: EffectMove) -> EffectMove:
    """The effects of the chosen samples, nothing for the others. Requires that sizes stay."""
    kinds = np.where(chosen, move.effect, _NONE)
    return EffectMove(kinds, move.numbers * chosen[:, None], move.height, move.width)


def effect_where(chosen: Bools, effect: Effect, sizes: Sizes, **parameters: Value) -> EffectMove:
    """One effect for the chosen samples, nothing for the others."""
    return only_where(chosen, same_effect(effect, sizes, **parameters))


def pack_colour(red: int, green: int, blue: int) -> int:
    """A colour as effects carry it."""
    return red | green << 8 | blue << 16


def split_key(words: Words) -> tuple[Floats, Floats]:
    """A key of two 32-bit words from each 64 random bits: (low, high)."""
    return (words & np.uint64(0xFFFFFFFF)).astype(np.float64), (words >> np.uint64(32)).astype(
        np.float64
    )


def _misnamed(effect: Effect, given: Iterable[str], missing: Iterable[str] = ()) -> TransformError:
    known = ", ".join(_PLACES[effect]) or "none"
    lacking = f"; {', '.join(sorted(missing))} is missing" if missing else ""
    return TransformError(
        f"{effect.name}: its parameters are {known}, got {', '.join(given) or 'none'}{lacking}."
    )
