"""What torchvision asks of images and tensors that are not computed yet.

Its crops, resizes and mirrors of Pillow images are calls of Pillow's, which such images remember.
Colours and turns are computed at once, by our functions with the same results. The end of a list
(tensors, floats, Normalize) is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.io import image as tv_io
from torchvision.transforms import _functional_pil, functional
from torchvision.transforms import v2 as v2_transforms
from torchvision.transforms.v2 import _utils as v2_utils
from torchvision.transforms.v2 import functional as v2
from torchvision.transforms.v2.functional import _utils

from penstock._core import Effect
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import as_jpeg, read_bytes
from penstock.deferring.rows import Row
from penstock.deferring.same_decoder import decodes_as_pillow
from penstock.deferring.spec import Spec
from penstock.deferring.tensor import Deferred, DeferredTensor, Patch, make, settled
from penstock.transforms import functional as F
from penstock.transforms.functional.native.blur import blur_numbers
from penstock.transforms.functional.native.memory import CHANNELS, run_effect

Function = Callable[..., Any]

_AT_ONCE = (
    *("adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue", "adjust_gamma"),
    *("adjust_sharpness", "autocontrast", "equalize", "invert", "posterize", "solarize"),
    *("pad", "rotate"),
)
_ONLY_V2 = ("affine", "perspective", "gaussian_blur", "rgb_to_grayscale", "permute_channels")
_CHANNELS = 3
_AXES = 3
_MODES = (1, 3)


class DeferredTvImage(Deferred, tv_tensors.Image):  # type: ignore[misc]  # no types
    """A deferred tensor that is torchvision's Image to everybody."""

    plain_class = tv_tensors.Image


def wrap_torchvision() -> dict[Function, Function]:
    """Give v2 its kernels for our classes; return wrappers for the functions of v1 and io."""
    for name in (*_AT_ONCE, *_ONLY_V2):
        _register(getattr(v2, name), DeferredImage, getattr(F, name))
    for kind in (DeferredTensor, DeferredTvImage):
        for name in (*_AT_ONCE, *_ONLY_V2):
            _register(getattr(v2, name), kind, _on_values(getattr(F, name)))
        for name, kernel in _ON_TENSORS.items():
            _register(getattr(v2, name), kind, _or_else(getattr(v2, name), kind, kernel))
    wrappers = {getattr(_functional_pil, name): name for name in _AT_ONCE}
    found = {
        original: _for_images(original, getattr(F, name)) for original, name in wrappers.items()
    }
    found[_functional_pil.to_grayscale] = _for_images(
        _functional_pil.to_grayscale, F.rgb_to_grayscale
    )
    found[functional.gaussian_blur] = _wrap_blur(functional.gaussian_blur)
    found[functional.to_tensor] = _wrap_to_tensor(functional.to_tensor)
    found[functional.pil_to_tensor] = _wrap_conversion(functional.pil_to_tensor, DeferredTensor)
    found[v2_utils._get_fill] = _wrap_fill(v2_utils._get_fill)  # noqa: SLF001 (it asks for the exact class)
    v2_transforms.ToDtype.transform = _wrap_to_dtype(v2_transforms.ToDtype.transform)
    found[tv_tensors.wrap] = _wrap_wrapping(tv_tensors.wrap)
    found[v2.to_image] = _wrap_conversion(v2.to_image, DeferredTvImage)
    found[functional.normalize] = _wrap_on_tensors(functional.normalize, _normalize)
    found[functional.erase] = _wrap_on_tensors(functional.erase, _erase)
    found[functional.convert_image_dtype] = _wrap_on_tensors(
        functional.convert_image_dtype, _convert_image_dtype
    )
    if _has_same_decoder():
        for original in (tv_io.read_image, tv_io.decode_image, tv_io.decode_jpeg):
            found[original] = _wrap_decoding(original)
    return found


def _register(function: Function, kind: type, kernel: Function) -> None:
    _utils._KERNEL_REGISTRY[function][kind] = kernel  # noqa: SLF001 (its public way takes tv_tensors only)


def _for_images(original: Function, ours: Function) -> Function:
    """A function of v1's on Pillow images, computed by ours where the image is one of ours."""

    @wraps(original)
    def wrapper(img: Any, *args: Any, **kwargs: Any) -> Any:
        chosen = ours if type(img) is DeferredImage else original
        return chosen(img, *args, **kwargs)

    return wrapper


def _wrap_blur(original: Function) -> Function:
    """v1's blur, whose kernel has other last bits than v2's."""

    @wraps(original)
    def gaussian_blur(img: Any, kernel_size: Any, sigma: Any = None) -> Any:
        numbers = None
        if type(img) is DeferredImage and img.mode in CHANNELS:
            numbers = blur_numbers((img.height, img.width), kernel_size, sigma, generation=1)
        if numbers is None:
            return original(img, kernel_size, sigma)
        return run_effect(img, Effect.GAUSSIAN_BLUR, *numbers)

    return gaussian_blur


# ---- from images to tensors ----


def _chain_of(image: Any) -> Chain | None:
    """How an RGB image is made; None for what is no such image of ours."""
    if type(image) is not DeferredImage or image.mode not in CHANNELS:
        return None
    return image.as_chain()


def _wrap_to_tensor(original: Function) -> Function:
    @wraps(original)
    def to_tensor(pic: Any) -> Any:
        chain = _chain_of(pic) if torch.get_default_dtype() == torch.float32 else None
        if chain is None:
            return original(pic)
        return make(DeferredTensor, chain, Spec(channels=CHANNELS[pic.mode]).divided())

    return to_tensor


def _wrap_conversion(original: Function, kind: type) -> Function:
    @wraps(original)
    def convert(given: Any) -> Any:
        if isinstance(given, Deferred) and given.chain is not None and kind is DeferredTvImage:
            return make(kind, given.chain, given.spec)
        chain = _chain_of(given)
        if chain is None:
            return original(given)
        return make(kind, chain, Spec(channels=CHANNELS[given.mode]))

    return convert


def _wrap_wrapping(original: Function) -> Function:
    """Results of torchvision's own kernels are of the class that ours stand for."""

    @wraps(original)
    def wrap(wrappee: Any, *, like: Any, **kwargs: Any) -> Any:
        if isinstance(like, (Deferred, Row)):
            return wrappee.as_subclass(type(like).plain_class)
        return original(wrappee, like=like, **kwargs)

    return wrap


def _wrap_fill(original: Function) -> Function:
    """Colours of borders may be given by class: ours are looked up as what they stand for."""
    stand_for = {DeferredImage: Image.Image}

    @wraps(original)
    def get_fill(fill_dict: Any, inpt_type: Any) -> Any:
        plain = getattr(inpt_type, "plain_class", inpt_type)
        return original(fill_dict, stand_for.get(plain, plain))

    return get_fill


def _wrap_to_dtype(original: Function) -> Function:
    """The same holds for types of values."""

    @wraps(original)
    def transform(self: Any, inpt: Any, params: Any) -> Any:
        is_by_class = isinstance(inpt, Deferred) and isinstance(self.dtype, dict)
        return original(self, inpt.values() if is_by_class else inpt, params)

    return transform


# ---- on tensors ----


def _or_else(function: Function, kind: Any, kernel: Function) -> Function:
    """A kernel of ours; where it returns None, the one that torchvision has."""
    registry = _utils._KERNEL_REGISTRY[function]  # noqa: SLF001 (as above)
    usual = registry[kind.plain_class]

    def either(given: Any, *args: Any, **kwargs: Any) -> Any:
        done = kernel(given, *args, **kwargs)
        return usual(given.values(), *args, **kwargs) if done is None else done

    return either


def _on_values(ours: Function) -> Function:
    """A function of ours on the values, which has the bits of torchvision's."""

    def kernel(given: Any, *args: Any, **kwargs: Any) -> Any:
        done = ours(given.values(), *args, **kwargs)
        is_image = done.ndim == _AXES and done.shape[0] in _MODES and done.dtype == torch.uint8
        return settled(type(given), done) if is_image else done

    return kernel


def _wrap_on_tensors(original: Function, kernel: Function) -> Function:
    @wraps(original)
    def either(given: Any, *args: Any, **kwargs: Any) -> Any:
        done = kernel(given, *args, **kwargs) if isinstance(given, Deferred) else None
        return original(given, *args, **kwargs) if done is None else done

    return either


def _to_dtype(given: Any, dtype: torch.dtype = torch.float32, scale: bool = False) -> Any:
    if dtype == given.spec.dtype:
        return given
    if given.spec.is_float or dtype != torch.float32:
        return None
    return _reopened(given).with_spec(given.spec.as_float(scale=scale))


def _reopened(given: Any) -> Any:
    """An image of bytes that was computed, as one to which more is done when the batch is whole."""
    if given.is_open or given.ndim != _AXES or given.shape[0] not in _MODES:
        return given
    return make(type(given), Chain.of_pixels(_channels_last(given.values())), given.spec)


def _convert_image_dtype(given: Any, dtype: torch.dtype = torch.float32) -> Any:
    if given.spec.is_float or dtype != torch.float32:
        return None
    return _reopened(given).with_spec(given.spec.divided())


def _normalize(given: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    numbers = [_numbers(mean), _numbers(std)]
    spec: Spec = given.spec
    if None in numbers or not spec.is_float or spec.is_normalised:
        return None
    changed = spec.normalised(*numbers)  # type: ignore[arg-type]  # none is None
    if 0.0 in changed.std:
        return None  # torchvision says what it thinks of that
    if not inplace:
        return given.with_spec(changed)
    if not given.is_open or given.patches:
        return None
    given.change(changed)
    return given


def _numbers(given: Any) -> tuple[float, ...] | None:
    if not isinstance(given, (list, tuple)) or len(given) not in (1, _CHANNELS):
        return None
    are_numbers = all(isinstance(one, (int, float)) for one in given)
    return tuple(map(float, given)) if are_numbers else None


def _crop(given: Any, top: int, left: int, height: int, width: int) -> Any:
    chain: Chain | None = given.chain
    if chain is None:
        return None
    inside = 0 <= top < top + height <= chain.height and 0 <= left < left + width <= chain.width
    if not inside:
        return None
    return make(type(given), chain.crop(top, left, height, width), given.spec)


def _horizontal_flip(given: Any) -> Any:
    if given.chain is None:
        return None
    return make(type(given), given.chain.flip(horizontal=True, vertical=False), given.spec)


def _vertical_flip(given: Any) -> Any:
    if given.chain is None:
        return None
    return make(type(given), given.chain.flip(horizontal=False, vertical=True), given.spec)


def _erase(given: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    if given.chain is None:
        return None
    height, width = given.shape[-2:]
    is_tensor = isinstance(v, torch.Tensor) and not isinstance(v, Deferred)
    if not is_tensor or not (0 <= i < i + h <= height and 0 <= j < j + w <= width):
        return None
    target = given if inplace else make(type(given), given.chain, given.spec)
    target.put(Patch(i, j, v.expand(*v.shape[:-2], h, w)))
    return target


def _resized_crop(
    given: Any, top: int, left: int, height: int, width: int, *args: Any, **kwargs: Any
) -> Any:
    cropped = _crop(given, top, left, height, width)
    return None if cropped is None else _resize(cropped, *args, **kwargs)


def _resize(given: Any, *args: Any, **kwargs: Any) -> Any:
    """Resized now, of bytes; what follows is done when the batch is whole."""
    return _on_values(F.resize)(given, *args, **kwargs)


def _channels_last(tensor: torch.Tensor) -> Any:
    plain = tensor.as_subclass(torch.Tensor)
    return np.ascontiguousarray(plain.expand(_CHANNELS, -1, -1).permute(1, 2, 0).numpy())


_ON_TENSORS: dict[str, Function] = {
    "erase": _erase,
    "resize": _resize,
    "resized_crop": _resized_crop,
    "to_dtype": _to_dtype,
    "normalize": _normalize,
    "crop": _crop,
    "horizontal_flip": _horizontal_flip,
    "vertical_flip": _vertical_flip,
}


# ---- files as tensors ----


def _wrap_decoding(original: Function) -> Function:
    """Files and bytes that torchvision decodes to tensors, not decoded yet."""

    @wraps(original)
    def decode(given: Any, *args: Any, **kwargs: Any) -> Any:
        counts = counts_here()
        mode = args[0] if args else kwargs.get("mode", tv_io.ImageReadMode.UNCHANGED)
        is_plain = len(args) <= 1 and not kwargs.keys() - {"mode"}
        known = {tv_io.ImageReadMode.UNCHANGED: (3,), tv_io.ImageReadMode.RGB: (1, 3)}
        if counts is None or not is_plain or mode not in known:
            return original(given, *args, **kwargs)
        data, name = _bytes_of(given)
        found = None if data is None else as_jpeg(data, name, counts, by_pillow=False)
        if found is None or (found[1] == "L" and mode == tv_io.ImageReadMode.UNCHANGED):
            return original(given, *args, **kwargs)
        return make(DeferredTensor, Chain.of_file(found[0]), Spec())

    return decode


def _bytes_of(given: Any) -> tuple[bytes | None, str]:
    if isinstance(given, torch.Tensor):
        is_bytes = given.dtype == torch.uint8 and given.ndim == 1
        return (given.numpy().tobytes() if is_bytes else None), "bytes"
    return read_bytes(given)


def _decode_alone(data: bytes) -> Any:
    coded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return tv_io.decode_jpeg(coded).permute(1, 2, 0).numpy()


def _has_same_decoder() -> bool:
    try:
        return decodes_as_pillow(_decode_alone)
    except RuntimeError:  # built without one
        return False
