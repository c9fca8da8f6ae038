"""What values the pixels of a tensor have, each by itself or by the whole image."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from penstock._core import Effect
from penstock.errors import TransformError, TransformTypeError
from penstock.transforms.functional.arguments import (
    require_channels,
    require_gamma,
    require_gray_channels,
    require_hue,
    require_permutation,
)
from penstock.transforms.functional.native.tensors import colours
from penstock.transforms.functional.native.tensors import values as native
from penstock.transforms.functional.native.tensors.tables import run_effect
from penstock.transforms.functional.native.tensors.tried import Tried, is_plain
from penstock.transforms.functional.tensors.rename import renamed
from penstock.transforms.functional.tensors.values import most_of, to_dtype_image, value_bits

# A number takes torch longer than a tensor of one, which becomes the type of whatever it meets.
_ONE = torch.ones((), device="cpu")
_KEPT_BITS = torch.tensor([256 - (256 >> bits) for bits in range(9)], device="cpu").byte().unbind()


def rgb_to_grayscale_image(image: Tensor, num_output_channels: int = 1) -> Tensor:
    """Gray, in one channel or in three equal ones."""
    require_gray_channels(num_output_channels)
    return _gray_channels(image, num_output_channels)


def grayscale_to_rgb_image(image: Tensor) -> Tensor:
    """Three channels; an image that has them stays as it is."""
    return image if image.shape[-3] >= 3 else _gray_channels(image, 3)


def _gray_channels(image: Tensor, channels: int) -> Tensor:
    if image.shape[-3] == 1:
        if channels == 1:
            return image.clone()
        return image.repeat((*[1] * (image.ndim - 3), channels, 1, 1))
    gray = _whole_gray(image, image.dtype)
    return gray.expand(*[-1] * (image.ndim - 3), 3, -1, -1) if channels == 3 else gray


def _gray(image: Tensor) -> Tensor:
    """Gray with its fractions."""
    red, green, blue = image.unbind(dim=-3)
    return red.mul(0.2989).add_(green, alpha=0.587).add_(blue, alpha=0.114).unsqueeze(dim=-3)


def _whole_gray_by_torch(image: Tensor, dtype: torch.dtype) -> Tensor:
    if image.is_floating_point():
        return _gray(image)
    return _gray(image).to(dtype) if dtype == image.dtype else _gray(image).floor_()


# Gray, of integers in whole numbers: of the image's type, or counted as fractions.
_whole_gray = Tried(colours.gray, _whole_gray_by_torch, [(torch.float32,)])


def _fractions_of(image: Tensor) -> torch.dtype:
    """The type that computes with the values of an image."""
    return image.dtype if image.is_floating_point() else torch.float32


def _check(image: Tensor, name: str, factor: float) -> int:
    """Refuse a factor below 0, and other than gray or coloured images; return their channels."""
    if factor < 0:
        raise TransformError(f"{name} ({factor}) is not non-negative.")
    return _check_channels(image)


def _check_channels(image: Tensor) -> int:
    channels = image.shape[-3]
    if channels not in {1, 3}:
        raise TransformTypeError(
            f"Input image tensor permitted channel values are 1 or 3, but found {channels}"
        )
    return channels


def adjust_brightness_image(image: Tensor, brightness_factor: float) -> Tensor:
    """0 is black, 1 the image itself."""
    _check(image, "brightness_factor", brightness_factor)
    return _scale(image, brightness_factor)


def _scale_by_torch(image: Tensor, factor: float) -> Tensor:
    return image.mul(factor).clamp_(0, most_of(image.dtype)).to(image.dtype)


_scale = Tried(native.scale, _scale_by_torch, [(1.3,), (0.7,)])


def adjust_saturation_image(image: Tensor, saturation_factor: float) -> Tensor:
    """0 is gray, 1 the image itself."""
    if _check(image, "saturation_factor", saturation_factor) == 1:
        return image
    return _saturate(image, float(saturation_factor))


def _saturate_by_torch(image: Tensor, factor: float) -> Tensor:
    return _blend(image, _whole_gray_by_torch(image, _fractions_of(image)), factor)


_saturate = Tried(colours.saturate, _saturate_by_torch, [(1.3,), (0.7,)])


def adjust_contrast_image(image: Tensor, contrast_factor: float) -> Tensor:
    """0 is the image's mean, 1 the image itself."""
    _check(image, "contrast_factor", contrast_factor)
    return _adjust_contrast(image, float(contrast_factor))


def _adjust_contrast_by_torch(image: Tensor, ratio: float) -> Tensor:
    """The mean is torch's; the rest may be the core's."""
    if image.shape[-3] == 3:
        gray = _whole_gray(image, _fractions_of(image))
    else:
        gray = image.to(_fractions_of(image))
    return _blend_level(image, gray.mean(dim=(-3, -2, -1), keepdim=True), ratio)


def _blend(image: Tensor, other: Tensor, ratio: float) -> Tensor:
    blended = image.mul(ratio).add_(other, alpha=1.0 - ratio)
    return blended.clamp_(0, most_of(image.dtype)).to(image.dtype)


_TRIED_BLENDS = ((0.4375, 1.3), (0.7, 0.6), (0.337, 0.21))

_blend_level = Tried(
    native.blend_level,
    _blend,
    [(torch.full((1, 1, 1), level, device="cpu"), ratio) for level, ratio in _TRIED_BLENDS],
)


_adjust_contrast = Tried(
    colours.adjust_contrast, _adjust_contrast_by_torch, [(1.3,), (0.6,)], (torch.uint8,)
)


def adjust_gamma_image(image: Tensor, gamma: float, gain: float = 1) -> Tensor:
    """Each value to the power of gamma, times gain."""
    require_gamma(gamma)
    if image.is_floating_point() and image.numel() < native.WORTH_A_CURVE:
        return _adjust_gamma_by_torch(image, gamma, gain)
    return _adjust_gamma(image, gamma, gain)


def _adjust_gamma_by_torch(image: Tensor, gamma: float, gain: float) -> Tensor:
    if image.is_floating_point():
        output = image.pow(gamma)
    else:
        output = to_dtype_image(image, torch.float32, scale=True).pow_(gamma)
    if gain != 1.0:
        output = output.mul_(gain).clamp_(0.0, 1.0)
    return to_dtype_image(output, image.dtype, scale=True)


_adjust_gamma = Tried(native.adjust_gamma, _adjust_gamma_by_torch, [(1.2, 1.0), (0.7, 1.1)])


def adjust_hue_image(image: Tensor, hue_factor: float) -> Tensor:
    """Turn all colours by a part of the circle."""
    require_hue(hue_factor)
    if _check_channels(image) == 1 or image.numel() == 0:
        return image
    return _turn_hue(image, hue_factor)


def _turn_hue_by_torch(image: Tensor, hue_factor: float) -> Tensor:
    hue, saturation, value = _to_hsv(to_dtype_image(image, torch.float32, scale=True))
    hue = hue.add_(hue_factor).remainder_(1.0)
    return to_dtype_image(_to_rgb(hue, saturation, value), image.dtype, scale=True)


_turn_hue = Tried(colours.turn_hue, _turn_hue_by_torch, [(0.1,), (-0.4,), (0.5,)])


def _to_hsv(image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation and value of fractions, as Pillow computes them."""
    least, most = image.amin(dim=-3), image.amax(dim=-3)
    is_gray = most == least
    span = most - least
    one = torch.ones((), dtype=image.dtype, device=image.device)
    saturation = span / torch.where(is_gray, one, most)
    span = torch.where(is_gray, one, span).unsqueeze_(dim=-3)
    red, green, blue = ((most.unsqueeze(dim=-3) - image) / span).unbind(dim=-3)
    is_red = image.select(-3, 0) == most
    is_green = (image.select(-3, 1) == most).logical_and_(~is_red)
    is_blue = (is_red | is_green).logical_not_()
    by_green = red.add(2.0).sub_(blue).mul_(is_green)
    by_red = blue.sub_(green).mul_(is_red)
    by_blue = green.add_(4.0).sub_(red).mul_(is_blue)
    hue = by_red.add_(by_green).add_(by_blue)
    return hue.mul_(1.0 / 6.0).add_(1.0).fmod_(1.0), saturation, most


# For each sixth of the circle, which of value, p, q and t is red, green and blue.
_SIXTHS = ((0, 2, 1, 1, 3, 0), (3, 0, 0, 2, 1, 1), (1, 1, 3, 0, 0, 2))


def _to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    turned = hue.mul(6)
    sixth = torch.floor(turned)
    part = turned.sub_(sixth)
    by_part = saturation * part
    rest = 1.0 - saturation
    q = (1.0 - by_part).mul_(value).clamp_(0.0, 1.0)
    t = by_part.add_(rest).mul_(value).clamp_(0.0, 1.0)
    p = rest.mul_(value).clamp_(0.0, 1.0)
    candidates = torch.stack((value, p, q, t), dim=-3)
    sixths = sixth.to(torch.int32).remainder_(6).flatten()
    rows = torch.tensor(_SIXTHS, device=hue.device).unbind()
    chosen = [row.index_select(0, sixths).view(hue.shape) for row in rows]
    return candidates.gather(-3, torch.stack(chosen, dim=-3))


def posterize_image(image: Tensor, bits: int) -> Tensor:
    """Keep the highest bits of each value."""
    if not isinstance(bits, int) or not 0 <= bits <= 8:
        raise TransformTypeError(
            f"bits must be a positive integer in the range [0, 8], got {bits} instead."
        )
    if image.is_floating_point():
        return _posterize(image, bits)
    dropped = value_bits(image.dtype) - bits
    if dropped <= 0:
        return image
    if image.dtype == torch.uint8 and type(image) is Tensor:
        return image & _KEPT_BITS[bits]
    return image & (((1 << bits) - 1) << dropped)


def _posterize_by_torch(image: Tensor, bits: int) -> Tensor:
    levels = 1 << bits
    return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)


_posterize = Tried(native.posterize, _posterize_by_torch, [(4,), (1,), (8,)], (torch.float32,))


def solarize_image(image: Tensor, threshold: float) -> Tensor:
    """Invert the values from `threshold` on."""
    if threshold > most_of(image.dtype):
        raise TransformTypeError(
            f"Threshold should be less or equal the maximum value of the dtype, but got {threshold}"
        )
    return _solarize(image, threshold)


def _solarize_by_torch(image: Tensor, threshold: float) -> Tensor:
    return torch.where(image >= threshold, invert_image(image), image)


_solarize = Tried(native.solarize, _solarize_by_torch, [(0.1,), (0.5,)])


def invert_image(image: Tensor) -> Tensor:
    """White becomes black."""
    if image.dtype == torch.uint8:
        return image.bitwise_not()
    if image.is_floating_point():
        return _ONE - image if type(image) is Tensor else 1.0 - image
    return image.bitwise_xor((1 << value_bits(image.dtype)) - 1)


def autocontrast_image(image: Tensor) -> Tensor:
    """Stretch the values of each channel to the whole range."""
    _check_channels(image)
    return image if image.numel() == 0 else _autocontrast(image)


def _autocontrast_by_torch(image: Tensor) -> Tensor:
    dtype = _fractions_of(image)
    white = most_of(image.dtype)
    # torch compares bytes and fractions as they are, and not all of the other types.
    compared = image if image.dtype == torch.uint8 else image.to(dtype)
    least = compared.amin(dim=(-2, -1), keepdim=True).to(dtype)
    most = compared.amax(dim=(-2, -1), keepdim=True).to(dtype)
    is_flat = most == least
    scale = most.sub(least).mul_(1.0 / white).masked_fill_(is_flat, 1.0)
    least = least.masked_fill(is_flat, 0.0)
    return compared.sub(least).div_(scale).clamp_(0, white).to(image.dtype)


_autocontrast = Tried(native.autocontrast, _autocontrast_by_torch, [()])


def equalize_image(image: Tensor) -> Tensor:
    """Make all levels equally frequent; counted in bytes, whatever the values are."""
    if image.numel() == 0:
        return image
    has_bytes = image.dtype == torch.uint8
    levels = image if has_bytes else to_dtype_image(image, torch.uint8, scale=True)
    native = run_effect(levels, Effect.EQUALIZE)
    if native is not None:
        return native if has_bytes else to_dtype_image(native, image.dtype, scale=True)
    flat = levels.flatten(start_dim=-2).to(torch.int64)
    counts = _count_levels(flat)
    up_to = counts.cumsum(dim=-1)
    # The last level that occurs is where the sum first reaches its end.
    last = counts.gather(dim=-1, index=up_to.argmax(dim=-1, keepdim=True))
    step = flat.shape[-1] - last
    step = step.div_(255, rounding_mode="floor")
    below = up_to[..., :-1].add_(step // 2)
    is_possible = step.ne(0).unsqueeze_(-1)
    below = below.div_(step.clamp_(min=1), rounding_mode="floor").clamp_(0, 255)
    table = torch.nn.functional.pad(below.to(torch.uint8), (1, 0))
    equalized = table.gather(dim=-1, index=flat).view_as(levels)
    return to_dtype_image(torch.where(is_possible, equalized, levels), image.dtype, scale=True)


def _count_levels(flat: Tensor) -> Tensor:
    """How often each of 256 levels occurs in the last dimension."""
    counts = torch.zeros((*flat.shape[:-1], 256), dtype=torch.int32, device=flat.device)
    ones = torch.ones(1, dtype=torch.int32, device=flat.device)
    return counts.scatter_add_(dim=-1, index=flat, src=ones.expand_as(flat))


def permute_channels_image(image: Tensor, permutation: Sequence[int]) -> Tensor:
    """Channels in another order."""
    require_channels(image.shape, "permute_channels")
    require_permutation(permutation, image.shape[-3])
    if image.numel() == 0:
        return image
    channels = image.shape[-3]
    order = [place + channels if place < 0 else place for place in permutation]
    native = colours.permute_channels(image, order) if is_plain(image) else None
    if native is not None:
        return native
    return image.index_select(-3, torch.tensor(order, device=image.device))


adjust_brightness_video = renamed(adjust_brightness_image, "video")
adjust_contrast_video = renamed(adjust_contrast_image, "video")
adjust_gamma_video = renamed(adjust_gamma_image, "video")
adjust_hue_video = renamed(adjust_hue_image, "video")
adjust_saturation_video = renamed(adjust_saturation_image, "video")
autocontrast_video = renamed(autocontrast_image, "video")
equalize_video = renamed(equalize_image, "video")
invert_video = renamed(invert_image, "video")
permute_channels_video = renamed(permute_channels_image, "video")
posterize_video = renamed(posterize_image, "video")
solarize_video = renamed(solarize_image, "video")
