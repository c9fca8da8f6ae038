"""The ops of augmentation policies: from a drawn level to an effect on an image.

A policy chooses an op for each sample. The op turns the level into an argument (degrees, a factor,
pixels), negated for half of the samples if the op is signed, and acts with it. `policy_move` does
this for a batch; the functions below it are what ops act by.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from penstock._core import Effect
from penstock.geometry import Floats, Ints, Size, Sizes
from penstock.rng import Draws
from penstock.transforms.arguments import Colour, Look
from penstock.transforms.effects import (
    EffectMove,
    no_numbers,
    pack_colour,
    parameter_names,
    same_effect,
)
from penstock.transforms.warp import rotate
from penstock.transforms.warp_matrices import affine_matrix, each, middle

NOTHING = -1  # in the place of an op's number

_SIGNS = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Scene:
    """The images that ops act on, and what warps and cutouts need to know beside their argument."""

    sizes: Sizes
    filter: Ints  # Pillow's number, one for each image
    fill: Colour
    place: Floats  # (2, images) in [0, 1): how far down and across a cutout lies

    def at(self, rows: Ints) -> Scene:
        """Some of the images."""
        return Scene(self.sizes.at(rows), self.filter[rows], self.fill, self.place[:, rows])


Act: TypeAlias = Callable[[Floats, Scene], EffectMove]
LevelToArgument: TypeAlias = Callable[[Floats, Sizes], Floats]


@dataclass(frozen=True, slots=True)
class PolicyOp:
    """One op of a policy; one without `argument` knows no levels."""

    name: str
    act: Act
    argument: LevelToArgument | None = None
    signed: bool = False


def make_scene(
    sizes: Sizes, filter: int | Ints, fill: Colour, place: Floats | None = None
) -> Scene:
    """A scene whose filter may be one for all; policies without cutouts need no `place`."""
    filters = np.broadcast_to(np.asarray(filter, dtype=np.int64), len(sizes))
    return Scene(sizes, filters, fill, np.zeros((2, len(sizes))) if place is None else place)


def draw_signs(draws: Draws) -> Floats:
    """1 or -1 for each sample, equally often."""
    return np.where(draws.uniform() < 0.5, -1.0, 1.0)


def policy_move(
    ops: Sequence[PolicyOp], chosen: Ints, levels: Floats, signs: Floats, scene: Scene
) -> EffectMove:
    """One op for each sample: `chosen` says which by number, or NOTHING."""
    sizes = scene.sizes
    effect = np.full(len(sizes), Effect.NONE, dtype=np.int64)
    numbers = no_numbers(len(sizes))
    for number, op in enumerate(ops):
        rows = np.flatnonzero(chosen == number)
        if not len(rows):
            continue
        here = scene.at(rows)
        argument = np.zeros(len(rows))
        if op.argument is not None:
            argument = op.argument(levels[rows], here.sizes)
        move = op.act(argument * signs[rows] if op.signed else argument, here)
        effect[rows], numbers[rows] = move.effect, move.numbers
    return EffectMove(effect, numbers, sizes.height, sizes.width)


def binned_move(
    ops: tuple[PolicyOp, ...],
    levels: tuple[float, ...],
    chosen: Ints,
    bins: Ints,
    signs: Floats,
    sizes: Sizes,
    look: Look,
) -> EffectMove:
    """As `policy_move`, for levels that come from a few: each sample's is number `bins`.

    In a batch of images of one size, the usual case after a crop, few different things can happen.
    They are computed once and then looked up, which spares most of the work of drawing.
    """
    if not sizes.are_alike:
        scene = make_scene(sizes, *look)
        return policy_move(ops, chosen, np.array(levels)[bins], signs, scene)
    effect, numbers = _table(ops, levels, sizes[0], look)
    entry = (chosen * len(levels) + bins) * len(_SIGNS) + (signs > 0)
    entry = np.where(chosen == NOTHING, len(effect) - 1, entry)
    return EffectMove(effect[entry], numbers[entry], sizes.height, sizes.width)


def tell_ops(
    draws: Draws,
    ops: Sequence[PolicyOp],
    chosen: Ints,
    levels: Floats | Ints,
    signs: Floats,
    sizes: Sizes,
    move: EffectMove,
) -> EffectMove:
    """Say which op each sample got, and by what argument; returns `move`, what became of it."""
    if not draws.listens:
        return move
    for number, op in enumerate(ops):
        rows = np.flatnonzero(chosen == number)
        if not len(rows):
            continue
        here = sizes.at(rows)
        drawn: dict[str, Any] = {}
        if op.argument is not None:
            drawn["level"] = levels[rows]
            argument = op.argument(levels[rows].astype(np.float64), here)
            drawn["magnitude"] = argument * signs[rows] if op.signed else argument
        draws.tell_op(op.name, rows, (move.at(rows),), here, **drawn)
    return move


@lru_cache(maxsize=64)
def _table(
    ops: tuple[PolicyOp, ...], levels: tuple[float, ...], size: Size, look: Look
) -> tuple[Ints, Floats]:
    """Effects and their numbers for every op, level and sign, in this order; nothing at the end."""
    cases = [(op, level, sign) for op in range(len(ops)) for level in levels for sign in _SIGNS]
    chosen, level, sign = np.array(cases).T
    sizes = Sizes(np.full(len(cases), size.height), np.full(len(cases), size.width))
    move = policy_move(ops, chosen.astype(np.int64), level, sign, make_scene(sizes, *look))
    return (
        np.concatenate([move.effect, [int(Effect.NONE)]]),
        np.concatenate([move.numbers, no_numbers(1)]),
    )


def plain(effect: Effect) -> Act:
    """An effect without parameters."""
    return lambda _, scene: same_effect(effect, scene.sizes)


def direct(effect: Effect, **more: float) -> Act:
    """An effect whose first parameter is the argument."""
    name = parameter_names(effect)[0]
    return lambda argument, scene: same_effect(effect, scene.sizes, **{name: argument}, **more)


def enhance(effect: Effect, least: float = 0.0) -> Act:
    """A factor of 1 plus the argument, but at least `least`."""
    return lambda argument, scene: same_effect(
        effect, scene.sizes, factor=np.maximum(1.0 + argument, least)
    )


def solarize_share(argument: Floats, scene: Scene) -> EffectMove:
    """Solarize from a share of 255 on."""
    return same_effect(Effect.SOLARIZE, scene.sizes, threshold=255.0 * argument)


def posterize(argument: Floats, scene: Scene) -> EffectMove:
    """Keep 0 to 8 bits."""
    return same_effect(Effect.POSTERIZE, scene.sizes, bits=np.clip(np.trunc(argument), 0, 8))


def rotate_degrees(argument: Floats, scene: Scene) -> EffectMove:
    """Turn counterclockwise around the middle."""
    return rotate(argument, scene.sizes, None, scene.filter, scene.fill)


def affine_shear(axis: int) -> Act:
    """Shear along x (0) or y (1) by tan(angle) = argument, as torchvision does by F.affine."""

    def act(argument: Floats, scene: Scene) -> EffectMove:
        degrees = each(math.degrees, each(math.atan, argument))
        none = np.zeros_like(degrees)
        shears = (degrees, none) if axis == 0 else (none, degrees)
        return _warp(affine_matrix((0.0, 0.0), none, (0.0, 0.0), 1.0, shears), scene)

    return act


def affine_translate(axis: int) -> Act:
    """Move right (0) or down (1) by whole pixels, as torchvision does by F.affine."""

    def act(argument: Floats, scene: Scene) -> EffectMove:
        pixels = np.trunc(argument)
        none = np.zeros_like(pixels)
        moved = (pixels, none) if axis == 0 else (none, pixels)
        return _warp(affine_matrix(middle(scene.sizes), none, moved, 1.0, (none, none)), scene)

    return act


def in_matrix(entry: int) -> Act:
    """Write the argument into the matrix of no change, as the original AutoAugment does.

    Entries 1 and 3 shear along x and y; 2 and 5 move left and up, by fractions of pixels too.
    """

    def act(argument: Floats, scene: Scene) -> EffectMove:
        matrix: list[Floats | float] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
        matrix[entry] = argument
        return _warp(matrix, scene)

    return act


def cutout(argument: Floats, scene: Scene) -> EffectMove:
    """Fill a square that reaches `argument` pixels to each side of a random place."""
    height, width = scene.sizes.height, scene.sizes.width
    down, across = np.floor(scene.place[0] * height), np.floor(scene.place[1] * width)
    top, left = np.maximum(down - argument, 0), np.maximum(across - argument, 0)
    bottom, right = np.minimum(down + argument, height), np.minimum(across + argument, width)
    return same_effect(
        Effect.ERASE,
        scene.sizes,
        top=top,
        left=left,
        height=bottom - top,
        width=right - left,
        value=scene.fill,
        by_noise=False,
    )


def _warp(matrix: Sequence[Floats | float], scene: Scene) -> EffectMove:
    colour = pack_colour(*scene.fill)
    return same_effect(Effect.AFFINE, scene.sizes, matrix=matrix, filter=scene.filter, fill=colour)
