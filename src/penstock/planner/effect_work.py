"""How much work the effects of a batch are: what cpp/engine/effects.cpp goes over for each.

Colour effects that are tables are applied one by one, or wait until their pixels are needed, as
their flag says.
Effects in place and effects into another image differ only where a mix remembers an image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from penstock._core import FINISHED, Effect
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.access import IS_COLOUR
from penstock.planner.amounts import Amount, Unit, WorkList, far_bytes
from penstock.planner.effect_list import Effects
from penstock.planner.on_the_way import OnTheWay
from penstock.planner.step_pixels import BatchStep
from penstock.transforms.effects import no_numbers, place_of

# Tables that are the same for every image.
_TABLES = (
    Effect.BRIGHTNESS,
    Effect.POSTERIZE,
    Effect.SOLARIZE,
    Effect.SOLARIZE_ADD,
    Effect.INVERT,
)

# By Pillow's numbers of filters: nearest, (lanczos), bilinear, bicubic.
_AFFINE = np.array(
    [Unit.AFFINE_NEAREST_PIXEL] * 2
    + [Unit.AFFINE_BILINEAR_PIXEL, Unit.AFFINE_BICUBIC_PIXEL, Unit.AFFINE_ROUNDED_PIXEL]
)
_PERSPECTIVE = np.array(
    [Unit.PERSPECTIVE_NEAREST_PIXEL] * 2
    + [Unit.PERSPECTIVE_BILINEAR_PIXEL, Unit.PERSPECTIVE_BICUBIC_PIXEL]
)
_DISPLACED = np.array(
    [Unit.DISPLACED_NEAREST_PIXEL] * 2
    + [Unit.DISPLACED_BILINEAR_PIXEL, Unit.DISPLACED_BICUBIC_PIXEL]
)
_ROUNDED = 4  # bilinear, in fixed point
_FILTER_NAME = ("nearest", "", "bilinear", "bicubic", "rounded")

# A kernel of so few weights is summed all at once.
_SMALL_KERNEL = 9

Amounts: TypeAlias = "tuple[tuple[Unit | Ints, Amount], ...]"

_NONE = -2  # of a slot without an effect: neither a step nor FINISHED
_WORD = 4  # bytes of a pixel in a warp's source

# Pixels that tiles reach beyond what a warp needs of them, both sides together.
_BESIDE = 64


class EffectWork:
    """The images of a batch as their effects go by."""

    def __init__(
        self, work: WorkList, effects: Effects, sizes: Sizes, channels: Ints, pads: Bools
    ) -> None:
        self.sizes = Sizes(sizes.height.astype(np.int64), sizes.width.astype(np.int64))
        self.channels = channels
        self._work = work
        count = len(sizes)
        slots = int(effects.counts.max(initial=0))
        shape = (count, slots)
        self._kind = np.zeros(shape, dtype=np.int64)
        self._step = np.full(shape, _NONE, dtype=np.int64)
        self._height, self._width = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self._may_wait = np.zeros(shape, np.int64)
        self._place = np.zeros(shape, dtype=np.int64)  # in `numbers`
        self._numbers = no_numbers(len(effects.numbers))
        self._numbers[:, : effects.numbers.shape[1]] = effects.numbers
        self._counts_early = effects.heads[:, 5] != 0
        rows = np.repeat(np.arange(count), effects.counts)
        starts = np.cumsum(effects.counts) - effects.counts
        every = np.arange(len(effects.heads))
        slot = every - np.repeat(starts, effects.counts)
        for array, column in (
            (self._kind, 0),
            (self._step, 1),
            (self._height, 2),
            (self._width, 3),
            (self._may_wait, 4),
        ):
            array[rows, slot] = effects.heads[:, column]
        self._place[rows, slot] = every
        may_wait = np.isin(self._kind, _TABLES) & (self._may_wait != 0)
        self.on_the_way = OnTheWay(
            self._kind, self._step, may_wait, (self._height, self._width), pads, self._parameters
        )
        self._waits = np.zeros(count, dtype=np.bool_)  # a table
        self._counted = np.zeros(count, dtype=np.bool_)
        self._remembered = np.zeros(count, dtype=np.bool_)  # by a mix
        self._branches = np.zeros(count, dtype=np.int64)
        self._channels_of_mix = channels.copy()

    def follow(self, step: Ints | int, rows: Ints) -> Bools:
        """Whether effects follow this step that need an image to work on."""
        numbers = np.broadcast_to(np.asarray(step), rows.shape)
        here = (self._step[rows] == numbers[:, None]) & ~self.on_the_way.does[rows]
        return np.asarray(here.any(axis=1))

    def before(self, rows: Ints) -> None:
        """A resize or a border is next, which need the pixels."""
        self._flush(rows)

    def after(self, step: int, rows: Ints) -> None:
        """The effects that follow a step of the samples in `rows`."""
        for slot in range(self._kind.shape[1]):
            here = rows[self._step[rows, slot] == step]
            for kind in np.unique(self._kind[here, slot]).tolist():
                some = here[self._kind[here, slot] == kind]
                self._apply(Effect(kind), some, slot)

    def after_all(self, rows: Ints) -> None:
        """The final pass's tables, and the effects on finished images."""
        waiting = rows[self._waits[rows]]
        amount = Unit.TABLE_VALUE, self._values(waiting)
        self._work.add("apply table", waiting, self.sizes.at(waiting), amount)
        for slot in range(self._kind.shape[1]):
            here = rows[self._step[rows, slot] == FINISHED]
            self._erase(here, self._place[here, slot])

    def seen_shares(self, rows: Ints, step: BatchStep) -> Floats:
        """How much of a first step's result the effects behind it look at: less only for warps."""
        shares = np.ones(len(rows))
        if not self._kind.shape[1]:
            return shares
        kinds = np.where(self._step[rows, 0] == 0, self._kind[rows, 0], Effect.NONE)
        for warp in (Effect.AFFINE, Effect.PERSPECTIVE):
            here = np.flatnonzero(kinds == warp)
            places = self._place[rows[here], 0]
            a, b, _, d, e, _ = self._numbers[places, place_of(warp, "matrix")][:, :6].T
            across = np.hypot(a, d) * self._width[rows[here], 0] + _BESIDE
            down = np.hypot(b, e) * self._height[rows[here], 0] + _BESIDE
            slant = np.abs(a * e - b * d) / np.maximum(np.hypot(a, d) * np.hypot(b, e), 1e-9)
            box = step.window_height[here] * step.window_width[here]
            shares[here] = np.clip(across * down * slant / box, 0, 1)
        return np.nan_to_num(shares, nan=1.0)

    def _apply(self, effect: Effect, rows: Ints, slot: int) -> None:
        places = self._place[rows, slot]
        if effect in (Effect.AFFINE, Effect.PERSPECTIVE):
            self._flush(rows[self._number(effect, "filter", places) != 0])
            self._warp(effect, rows, slot)
        elif table := self._tables().get(effect):
            self._add(effect, rows, (Unit.TABLE, 1.0), *table(rows, places))
            self._waits[rows] = True
            self._flush(rows[self._may_wait[rows, slot] == 0])
        elif handler := self._handlers().get(effect):
            if not IS_COLOUR[effect]:
                self._flush(rows)
            handler(rows, places)
        else:
            self._add(effect, rows)

    def _tables(self) -> dict[Effect, Callable[[Ints, Ints], Amounts]]:
        plain = dict.fromkeys(_TABLES, _look_at_nothing)
        return plain | {
            Effect.CONTRAST: self._contrast,
            Effect.AUTOCONTRAST: self._autocontrast,
            Effect.EQUALIZE: self._equalize,
        }

    def _handlers(self) -> dict[Effect, Callable[[Ints, Ints], None]]:
        return {
            Effect.SATURATION: self._saturation,
            Effect.HUE: self._hue,
            Effect.GRAYSCALE: self._grayscale,
            Effect.SHARPNESS: self._sharpness,
            Effect.GAUSSIAN_BLUR: self._blur,
            Effect.BOX_BLUR: self._box_blur,
            Effect.GAUSSIAN_NOISE: self._noise,
            Effect.ERASE: self._erase_between,
            Effect.ELASTIC: self._elastic,
            Effect.MIX_BEGIN: self._begin_mix,
            Effect.MIX_ADD: self._add_to_mix,
            Effect.MIX_END: self._end_mix,
        }

    def _values(self, rows: Ints) -> Floats:
        return self._pixels(rows) * self.channels[rows]

    def _pixels(self, rows: Ints) -> Floats:
        return (self.sizes.height[rows] * self.sizes.width[rows]).astype(np.float64)

    def _parameters(self, effect: Effect, name: str, slot: int) -> Floats:
        """One of all samples, as `effect` has it, whatever they have in this slot."""
        if not len(self._numbers):
            return no_numbers(len(self._place))[:, place_of(effect, name)]
        return self._number(effect, name, self._place[:, slot])

    def _number(self, effect: Effect, name: str, places: Ints) -> Floats:
        return self._numbers[places, place_of(effect, name)]

    def _add(
        self,
        effect: Effect,
        rows: Ints,
        *amounts: tuple[Unit | Ints, Amount],
        passes: Floats | float = 0,
        detail: str = "",
    ) -> None:
        """Add an effect that goes `passes` times over all values of its image."""
        far = self._far(rows, self._values(rows) * passes)
        name = effect.name.lower().replace("_", " ") + detail
        every: list[tuple[Unit | Ints, Amount]] = [(Unit.EFFECT, 1.0), far]
        self._work.add(name, rows, self.sizes.at(rows), *every, *amounts)

    def _far(self, rows: Ints, values: Floats) -> tuple[Unit, Floats]:
        return Unit.FAR_BYTE, far_bytes(values, self.sizes.at(rows), self.channels[rows])

    def _flush(self, rows: Ints) -> None:
        """Apply the tables that wait."""
        waiting = rows[self._waits[rows]]
        values = self._values(waiting)
        amounts = (Unit.TABLE_VALUE, values), self._far(waiting, 2 * values)
        self._work.add("apply table", waiting, self.sizes.at(waiting), *amounts)
        self._remembered[waiting] = False
        self._waits[rows] = self._counted[rows] = False

    def _make_own(self, rows: Ints) -> None:
        """Copy what a mix remembers, before pixels are changed in place."""
        copied = rows[self._remembered[rows]]
        self._work.add(
            "copy", copied, self.sizes.at(copied), (Unit.COPIED_VALUE, self._values(copied))
        )
        self._remembered[copied] = False

    # Colour.

    def _contrast(self, rows: Ints, places: Ints) -> Amounts:
        has_mean = self._number(Effect.CONTRAST, "has_mean", places) != 0
        unit = np.where(self._waits[rows], Unit.MAPPED_MEAN_PIXEL, Unit.MEAN_PIXEL)
        values = self._values(rows) * ~has_mean
        return (unit, values / 3), self._far(rows, values)

    def _autocontrast(self, rows: Ints, places: Ints) -> Amounts:
        values = self._values(rows) * ~self._counted[rows]
        unit = np.where(self._waits[rows], Unit.MAPPED_EXTREME_VALUE, Unit.EXTREME_VALUE)
        return (unit, values), self._far(rows, values * ~self._counts_early[places])

    def _equalize(self, rows: Ints, places: Ints) -> Amounts:
        del places
        values = self._values(rows) * ~self._counted[rows]
        self._counted[rows] = True
        return (Unit.COUNTED_VALUE, values), self._far(rows, values)

    def _saturation(self, rows: Ints, places: Ints) -> None:
        factor = self._number(Effect.SATURATION, "factor", places)
        changes = (factor != 1) & (self.channels[rows] == 3)
        self._grayscale(rows[changes & (factor == 0)], rows, Effect.SATURATION)
        rows = rows[changes & (factor != 0)]
        self._flush(rows)
        self._make_own(rows)
        self._add(Effect.SATURATION, rows, (Unit.SATURATED_PIXEL, self._pixels(rows)), passes=2)

    def _hue(self, rows: Ints, places: Ints) -> None:
        del places
        rows = rows[self.channels[rows] == 3]
        self._flush(rows)
        self._make_own(rows)
        self._add(Effect.HUE, rows, (Unit.HUE_PIXEL, self._pixels(rows)), passes=2)

    def _grayscale(self, rows: Ints, places: Ints, effect: Effect = Effect.GRAYSCALE) -> None:
        del places
        rows = rows[self.channels[rows] == 3]
        self._flush(rows)
        self._make_own(rows)
        self._add(effect, rows, (Unit.GRAY_PIXEL, self._pixels(rows)), passes=4 / 3)
        self.channels[rows] = 1

    # Filters.

    def _sharpness(self, rows: Ints, places: Ints) -> None:
        del places
        self._add(Effect.SHARPNESS, rows, (Unit.SHARPENED_VALUE, self._values(rows)), passes=2)
        self._remembered[rows] = False

    def _blur(self, rows: Ints, places: Ints) -> None:
        width = self._number(Effect.GAUSSIAN_BLUR, "kernel_width", places)
        height = self._number(Effect.GAUSSIAN_BLUR, "kernel_height", places)
        values, weights = self._values(rows), width * height
        is_small = weights <= _SMALL_KERNEL
        large = values * ~is_small
        # Sums in two directions err a little more with every weight; the pixels for which that
        # might show are summed again over all weights.
        self._add(
            Effect.GAUSSIAN_BLUR,
            rows,
            (Unit.BLUR_WEIGHT, values * weights * is_small),
            (Unit.BLURRED_VALUE, large),
            (Unit.BLUR_TAP, large * (width + height)),
            (Unit.BLUR_DOUBT, large * weights**2 * 1e-5),
            passes=2,
        )
        self._remembered[rows] = False

    def _box_blur(self, rows: Ints, places: Ints) -> None:
        """Each pass costs about what a blur does that reaches as far."""
        names = ("radius_across", "radius_down", "passes")
        across, down, passes = (self._number(Effect.BOX_BLUR, name, places) for name in names)
        values, taps = self._values(rows) * passes, 2 * (np.trunc(across) + np.trunc(down)) + 6
        amounts = (Unit.BLURRED_VALUE, values), (Unit.BLUR_TAP, values * taps)
        self._add(Effect.BOX_BLUR, rows, *amounts, passes=2)
        self._remembered[rows] = False

    def _noise(self, rows: Ints, places: Ints) -> None:
        del places
        self._make_own(rows)
        self.channels[rows] = 3
        self._add(Effect.GAUSSIAN_NOISE, rows, (Unit.NOISE_VALUE, self._values(rows)), passes=2)

    def _erase_between(self, rows: Ints, places: Ints) -> None:
        self._make_own(rows)
        self._erase(rows, places)

    def _erase(self, rows: Ints, places: Ints) -> None:
        height = self._number(Effect.ERASE, "height", places)
        width = self._number(Effect.ERASE, "width", places)
        by_noise = self._number(Effect.ERASE, "by_noise", places) != 0
        unit = np.where(by_noise, Unit.NOISE_ERASED_VALUE, Unit.ERASED_VALUE)
        self._add(Effect.ERASE, rows, (unit, height * width * 3))

    # Warps.

    def _warp(self, effect: Effect, rows: Ints, slot: int) -> None:
        places = self._place[rows, slot]
        numbers = self._number(effect, "filter", places).astype(np.int64)
        if effect == Effect.AFFINE:
            rounded = (numbers == 2) & (self._number(effect, "rounded", places) != 0)
            numbers = np.where(rounded, _ROUNDED, numbers)
        matrix = self._number(effect, "matrix", places)
        in_part = np.asarray(self._number(effect, "frame", places).any(axis=1))
        out = Sizes(self._height[rows, slot], self._width[rows, slot])
        passes = 1.0 - self.on_the_way.does[rows, slot]
        for number in np.unique(numbers).tolist():
            at = numbers == number
            self._warp_by(effect, rows[at], matrix[at], in_part[at], out.at(at), number, passes[at])
        self.sizes.height[rows], self.sizes.width[rows] = out.height, out.width
        self._remembered[rows] = False

    def _warp_by(
        self,
        effect: Effect,
        rows: Ints,
        matrix: Floats,
        in_part: Bools,
        out: Sizes,
        number: int,
        passes: Floats,
    ) -> None:
        pixels = (out.height * out.width).astype(np.float64)
        shifts = _moves_lines(effect, matrix, is_nearest=number == 0) & ~in_part
        units = _AFFINE if effect == Effect.AFFINE else _PERSPECTIVE
        self._add(
            effect,
            rows,
            (Unit.SHIFTED_VALUE, pixels * self.channels[rows] * shifts),
            *self._gather(rows, pixels * ~shifts, units[number], source=~shifts),
            passes=passes,
            detail=f" {_FILTER_NAME[number]}",
        )

    def _gather(
        self, rows: Ints, pixels: Floats, unit: Unit | Ints, source: Bools | float = 1.0
    ) -> Amounts:
        """Take `pixels` from places all over a source, which is first made into words."""
        words = self._pixels(rows) * source
        moved = (words + pixels) * _WORD
        far = far_bytes(moved, self.sizes.at(rows), np.full(len(rows), _WORD))
        return (Unit.BORDERED_PIXEL, words), (unit, pixels), (Unit.FAR_BYTE, far)

    def _elastic(self, rows: Ints, places: Ints) -> None:
        sigma = np.stack(
            [self._number(Effect.ELASTIC, name, places) for name in ("sigma_across", "sigma_down")]
        )
        kernel = (8 * sigma.max(axis=0) + 1) * (sigma > 0).sum(axis=0)
        number = self._number(Effect.ELASTIC, "filter", places).astype(np.int64)
        pixels = self._pixels(rows)
        self._add(
            Effect.ELASTIC,
            rows,
            (Unit.FIELD_PIXEL, pixels),
            (Unit.FIELD_TAP, pixels * kernel),
            *self._gather(rows, pixels, _DISPLACED[number]),
            passes=2,
        )
        self._remembered[rows] = False

    # Mixes.

    def _begin_mix(self, rows: Ints, places: Ints) -> None:
        del places
        self._add(Effect.MIX_BEGIN, rows)
        self._remembered[rows] = True
        self._branches[rows] = 1
        self._channels_of_mix[rows] = self.channels[rows]

    def _add_to_mix(self, rows: Ints, places: Ints) -> None:
        del places
        self._add(Effect.MIX_ADD, rows)
        self._remembered[rows] = True
        self._branches[rows] += 1
        self.channels[rows] = self._channels_of_mix[rows]

    def _end_mix(self, rows: Ints, places: Ints) -> None:
        del places
        values = self._values(rows) * self._branches[rows]
        self._add(Effect.MIX_END, rows, (Unit.MIXED_VALUE, values), passes=2)
        self._remembered[rows] = False


def _look_at_nothing(rows: Ints, places: Ints) -> Amounts:
    """What a table needs to know of the image that is the same for all images."""
    del rows, places
    return ()


def _moves_lines(effect: Effect, matrix: Floats, *, is_nearest: bool) -> Bools:
    """Warps that only move whole rows or columns, which are copies."""
    if effect != Effect.AFFINE:
        return np.zeros(len(matrix), dtype=np.bool_)
    a, b, c, d, e, f = matrix.T
    if not is_nearest:
        whole: npt.NDArray[np.bool_] = (np.floor(c) == c) & (np.floor(f) == f)
        return np.asarray((a == 1) & (e == 1) & (b == 0) & (d == 0) & whole)
    return np.asarray(((a == 1) & (d == 0)) | ((e == 1) & (b == 0) & (a == 1)))
