"""Smaller first: what can be done on fewer pixels waits for the resize that leaves fewer.

All of these are fast rules: a resize rounds to whole levels, and a filter is not mirror-symmetric
in its last bit, so results differ by a little. Bounds hold for photographs; noise from pixel to
pixel, which a resize smooths away, can be further off.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from penstock._core import Effect
from penstock.geometry import Bools, Floats, Ints, Sizes
from penstock.planner.draft import Moves
from penstock.planner.rules.rule import Bound, Fidelity, Rule
from penstock.transforms.arguments import InterpolationMode
from penstock.transforms.effects import EffectMove, place_of, write_parameters
from penstock.transforms.moves import CropMove, FlipMove, ResizeMove

# The scales at which a JPEG may be decoded, beside 1.
SCALES = (2, 4, 8)

# How far the resize must still reduce the reduced photo: its filter then spans enough pixels to
# have nearly the same shape. At 1 errors are three times as large, at 3 a quarter of the gain is
# lost.
SPARE = 2

# Box takes each pixel as a whole or not at all, and nearest takes single pixels, so both would
# show what a reduced photo lacks.
SMOOTH = tuple(
    mode.pillow_filter
    for mode in (
        InterpolationMode.BILINEAR,
        InterpolationMode.HAMMING,
        InterpolationMode.BICUBIC,
        InterpolationMode.LANCZOS,
    )
)

# Effects that change neighbouring levels alike, so that they may be done before or after a mean.
# Posterize, solarize and the like are steps between levels, and are left where they are.
# Contrast moves levels towards the image's mean, which a resize keeps.
_EVEN = (
    Effect.BRIGHTNESS,
    Effect.CONTRAST,
    Effect.SATURATION,
    Effect.INVERT,
    Effect.GRAYSCALE,
    Effect.PERMUTE_CHANNELS,
)


# Three weights (v/2, 1-v, v/2) have the variance v; a Gaussian sampled at so few places has not.
_THREE_TAPS = 0.5

# A variance that no pixel shows.
_NO_BLUR = 0.004


def reduce_in_decoder(moves: Moves, sizes: Sizes) -> Moves | None:
    """Decode large photos at a half, a quarter or an eighth of their size.

    A JPEG holds 8x8 blocks of frequencies. Leaving out the upper ones gives the image at 1/2, 1/4
    or 1/8 of its size for less work, and the resize that follows has fewer pixels to go through.
    Where that resize still reduces twice as far, it would have smoothed away nearly everything that
    is missing.
    """
    match moves:
        case (ResizeMove(scales=None) as resize, *rest):
            scales = _scales(sizes, resize)
            return None if scales is None else (replace(resize, scales=scales), *rest)
        case (CropMove() as crop, ResizeMove(scales=None) as resize, *rest):
            scales = _scales(crop.out_sizes(sizes), resize)
            return None if scales is None else (crop, replace(resize, scales=scales), *rest)
    return None


def _scales(sizes: Sizes, resize: ResizeMove) -> Ints | None:
    reduction = np.minimum(sizes.height / resize.height, sizes.width / resize.width)
    scales = np.ones(len(sizes), dtype=np.int64)
    if resize.filter in SMOOTH:
        for scale in SCALES:
            scales[reduction >= scale * SPARE] = scale
    return scales if (scales > 1).any() else None


def resize_before_flip(moves: Moves, sizes: Sizes) -> Moves | None:
    """Mirror the resized image.

    The filter's weights are symmetric up to their last bit, which decides how a value that lies
    between two levels is rounded.
    """
    del sizes
    match moves:
        case (FlipMove() as flip, ResizeMove() as resize) if resize.filter in SMOOTH:
            return resize, flip
    return None


def resize_before_per_pixel(moves: Moves, sizes: Sizes) -> Moves | None:
    """Shrink before effects on single pixels.

    Such an effect is nearly a straight line over the levels of neighbouring pixels, and the mean of
    straight lines is the line of the mean. It is not one where levels are cut at 0 and 255, which
    shows at edges. Effects that step between levels (posterize, solarize) are left alone, and so
    is a resize that enlarges.
    """
    match moves:
        case (EffectMove() as effect, ResizeMove() as resize) if resize.filter in SMOOTH:
            rows = is_even(effect) & (_pixels(resize.height, resize.width) < _pixels(*_pair(sizes)))
            return _split_resize(effect, resize, rows, sizes)
    return None


def per_pixel_before_enlarging(moves: Moves, sizes: Sizes) -> Moves | None:
    """Do effects on single pixels before a resize that enlarges.

    For the same reason as `resize_before_per_pixel`, the other way around.
    """
    match moves:
        case (ResizeMove(scales=None) as resize, EffectMove() as effect) if resize.filter in SMOOTH:
            grows = _pixels(resize.height, resize.width) > _pixels(*_pair(sizes))
            rows = is_even(effect) & grows
            if not rows.any():
                return None
            before = _rows_of(effect, rows, sizes)
            after = _rows_of(effect, ~rows, Sizes(resize.height, resize.width))
            return (before, resize, after) if after.acts.any() else (before, resize)
    return None


def blur_after_shrinking(moves: Moves, sizes: Sizes) -> Moves | None:
    """Blur the image after it was made smaller, by as much less.

    A blur spreads a pixel by a variance, and so does the resize's filter; variances add up in
    either order. Behind a resize by a factor, the blur's variance is divided by its square.
    """
    match moves:
        case (EffectMove() as blur, ResizeMove() as resize) if resize.filter in SMOOTH:
            shrinks = (resize.height < sizes.height) & (resize.width < sizes.width)
            rows = blur.does(Effect.GAUSSIAN_BLUR) & shrinks
            if not rows.any():
                return None
            across = _variance(blur, "kernel_width", "sigma_across")
            down = _variance(blur, "kernel_height", "sigma_down")
            across = across * (resize.width / sizes.width) ** 2
            down = down * (resize.height / sizes.height) ** 2
            return _split_resize(_blur_by(blur, rows, across, down, resize), resize, rows, sizes)
    return None


def _variance(blur: EffectMove, kernel: str, sigma: str) -> Floats:
    """The variance that torchvision's kernels have, which end before a Gaussian does."""
    found = np.zeros(len(blur.effect))
    for row in np.flatnonzero(blur.does(Effect.GAUSSIAN_BLUR)).tolist():
        size = int(blur.values(Effect.GAUSSIAN_BLUR, kernel)[row])
        places = np.arange(size) - size // 2
        weights = np.exp(-0.5 * (places / blur.values(Effect.GAUSSIAN_BLUR, sigma)[row]) ** 2)
        found[row] = (weights * places**2).sum() / weights.sum()
    return found


def _blur_by(
    blur: EffectMove, rows: Bools, across: Floats, down: Floats, resize: ResizeMove
) -> EffectMove:
    """The blur of `rows` with these variances, on images of the resized size."""
    numbers, kinds = blur.numbers.copy(), blur.effect.copy()
    for row in np.flatnonzero(rows).tolist():
        most = max(across[row], down[row])
        sides = int(resize.height[row]), int(resize.width[row])
        reach = 1 if most < _THREE_TAPS else math.ceil(3 * math.sqrt(most))
        reach = min(reach, *(side - 1 for side in sides))
        numbers[row] = 0
        if reach < 1 or most < _NO_BLUR:
            kinds[row] = Effect.NONE
            continue
        write_parameters(
            Effect.GAUSSIAN_BLUR,
            numbers[row],
            kernel_width=2 * reach + 1,
            kernel_height=2 * reach + 1,
            sigma_across=math.sqrt(max(across[row], _NO_BLUR)),
            sigma_down=math.sqrt(max(down[row], _NO_BLUR)),
        )
        if most < _THREE_TAPS:
            place = place_of(Effect.GAUSSIAN_BLUR, "weights")
            both = (across[row] + down[row]) / 2
            numbers[row, place][:2] = (1 - both, both / 2)
    return replace(blur, effect=kinds, numbers=numbers)


def is_even(move: EffectMove) -> Bools:
    """Which samples have an effect that changes neighbouring levels alike."""
    return np.isin(move.effect, _EVEN)


def _rows_of(effect: EffectMove, rows: Bools, sizes: Sizes) -> EffectMove:
    kinds = np.where(rows, effect.effect, Effect.NONE)
    numbers = np.where(rows[:, None], effect.numbers, 0)
    own = rows & ~is_even(effect)  # a warp among them may change sizes
    height = np.where(own, effect.height, sizes.height)
    width = np.where(own, effect.width, sizes.width)
    return replace(effect, effect=kinds, numbers=numbers, height=height, width=width)


def _split_resize(
    effect: EffectMove, resize: ResizeMove, rows: Bools, sizes: Sizes
) -> Moves | None:
    """Resize the samples in `rows` before the effect, and the others behind it."""
    if not rows.any():
        return None
    height = np.where(rows, resize.height, sizes.height)
    width = np.where(rows, resize.width, sizes.width)
    early = replace(resize, height=height, width=width)
    between = replace(
        effect,
        height=np.where(rows, resize.height, effect.height),
        width=np.where(rows, resize.width, effect.width),
    )
    is_done = (between.height == resize.height) & (between.width == resize.width)
    return (early, between) if is_done.all() else (early, between, resize)


def _pair(sizes: Sizes) -> tuple[Ints, Ints]:
    return sizes.height, sizes.width


def _pixels(height: Ints, width: Ints) -> Ints:
    return height * width


RULES = (
    Rule(
        "resize_before_flip",
        Fidelity.FAST,
        resize_before_flip,
        free=True,
        bound=Bound(mean=0.1, most=1, psnr_db=55),
    ),
    Rule(
        "resize_before_per_pixel",
        Fidelity.FAST,
        resize_before_per_pixel,
        bound=Bound(mean=4.5, most=120, psnr_db=26),
    ),
    Rule(
        "per_pixel_before_enlarging",
        Fidelity.FAST,
        per_pixel_before_enlarging,
        bound=Bound(mean=3.0, most=120, psnr_db=30),
    ),
    Rule(
        "blur_after_shrinking",
        Fidelity.FAST,
        blur_after_shrinking,
        bound=Bound(mean=2.5, most=48, psnr_db=35),
    ),
    Rule(
        "reduce_in_decoder",
        Fidelity.FAST,
        reduce_in_decoder,
        span=None,
        free=True,
        bound=Bound(mean=2.0, most=32, psnr_db=40),
    ),
)
