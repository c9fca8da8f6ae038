"""What torchvision asks of images and tensors that are not computed yet.

Its crops, resizes and mirrors of Pillow images are calls of Pillow's, which such images remember.
Colours and turns are computed at once, by our functions with the same results. The end of a list
(tensors, floats, Normalize) is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

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
from penstock.deferring.borders import bordered
from penstock.deferring.chain import Chain
from penstock.deferring.counts import counts_here
from penstock.deferring.image import DeferredImage
from penstock.deferring.opening import FileBytes, as_jpeg, read_bytes
from penstock.deferring.rows import Row
from penstock.deferring.same_decoder import decodes_as_pillow
from penstock.deferring.spec import Spec
from penstock.deferring.tensor import Deferred, DeferredTensor, as_plain, make, view_of
from penstock.deferring.torchvision_draws import wrap_draws
from penstock.deferring.torchvision_tensors import (
    ON_TENSORS,
    OURS,
    DeferredTvImage,
    convert_image_dtype,
    erase,
    normalize,
    on_values,
    or_else,
    wrap_on_tensors,
)
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
_WITHOUT_INFO = frozenset(  # what torchvision makes anew, with nothing of what the file says
    {
        *("adjust_brightness", "adjust_contrast", "adjust_hue", "gaussian_blur"),
        "permute_channels",
    }
)
_WITHOUT_HUE = frozenset({"1", "F", "I", "L"})
_GRAY_LEVELS = 1


def wrap_torchvision() -> dict[Function, Function]:
    """Give v2 its kernels for our classes; return wrappers for the functions of v1 and io."""
    for name in (*_AT_ONCE, *_ONLY_V2):
        _register(getattr(v2, name), DeferredImage, _kernel(name))
    for kind in (DeferredTensor, DeferredTvImage):
        kernels = {name: on_values(name, kind) for name in {*OURS, *ON_TENSORS}}
        for name, kernel in ON_TENSORS.items():
            kernels[name] = or_else(kernel, kernels[name])
        for name, kernel in kernels.items():
            _register(getattr(v2, name), kind, kernel)
    wrap_draws()
    wrappers = {getattr(_functional_pil, name): name for name in _AT_ONCE}
    found = {original: _for_images(original, _kernel(name)) for original, name in wrappers.items()}
    found[_functional_pil.to_grayscale] = _for_images(
        _functional_pil.to_grayscale, _kernel("rgb_to_grayscale")
    )
    found[functional.gaussian_blur] = _wrap_blur(functional.gaussian_blur)
    found[functional.to_tensor] = _wrap_to_tensor(functional.to_tensor)
    found[functional.pil_to_tensor] = _wrap_conversion(functional.pil_to_tensor, DeferredTensor)
    found[v2_utils._get_fill] = _wrap_fill(v2_utils._get_fill)  # noqa: SLF001 (it asks for the exact class)
    v2_transforms.ToDtype.transform = _wrap_to_dtype(v2_transforms.ToDtype.transform)
    found[tv_tensors.wrap] = _wrap_wrapping(tv_tensors.wrap)
    found[v2.to_image] = _wrap_conversion(v2.to_image, DeferredTvImage)
    found[functional.erase] = wrap_on_tensors(functional.erase, erase)
    found[functional.normalize] = wrap_on_tensors(functional.normalize, normalize)
    found[functional.convert_image_dtype] = wrap_on_tensors(
        functional.convert_image_dtype, convert_image_dtype
    )
    if _has_same_decoder():
        for original in (tv_io.read_image, tv_io.decode_image, tv_io.decode_jpeg):
            found[original] = _wrap_decoding(original)
    return found


def _register(function: Function, kind: type, kernel: Function) -> None:
    _utils._KERNEL_REGISTRY[function][kind] = kernel  # noqa: SLF001 (its public way takes tv_tensors only)


def _kernel(name: str) -> Function:
    """Our function of this name, with what torchvision's leaves of the file's information."""
    ours = getattr(F, name)
    theirs = getattr(_functional_pil, name, ours)

    def kernel(image: Any, *args: Any, **kwargs: Any) -> Any:
        if name == "adjust_saturation" and image.has_transparency:
            return theirs(image, *args, **kwargs)  # its gray version has another transparency
        if name == "pad" and (bordered_image := _pad(image, *args, **kwargs)) is not None:
            return bordered_image
        made = ours(image, *args, **kwargs)
        if name == "adjust_hue" and image.mode in _WITHOUT_HUE:
            return image
        was_stacked = name == "rgb_to_grayscale" and len(made.getbands()) > _GRAY_LEVELS
        if name in _WITHOUT_INFO or was_stacked:
            made.info = {}
        return made

    return kernel


def _pad(image: Any, *args: Any, **kwargs: Any) -> DeferredImage | None:
    """An image with a border, which has nothing of what the file says; None for unusual ones."""
    if image.chain is None:
        return None
    chain = bordered(image.chain, CHANNELS[image.mode], *args, **kwargs)
    if chain is None:
        return None
    image.load()  # as Pillow has by then
    return DeferredImage.of_chain(chain, image.mode, None)


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
        made = run_effect(img, Effect.GAUSSIAN_BLUR, *numbers)
        made.info = {}
        return made

    return gaussian_blur


# ---- from images to tensors ----


def _chain_of(image: Any) -> Chain | None:
    """How an RGB or gray image is made; None for what is no such image of ours."""
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
            return view_of(given, kind, given.chain, as_plain)
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
        read = _bytes_of(given)
        found = None if read is None else as_jpeg(read, counts, by_pillow=False)
        if found is None or (found[1] == "L" and mode == tv_io.ImageReadMode.UNCHANGED):
            return original(given, *args, **kwargs)
        return make(DeferredTensor, Chain.of_file(found[0]), Spec())

    return decode


def _bytes_of(given: Any) -> FileBytes | None:
    if isinstance(given, torch.Tensor):
        is_bytes = given.dtype == torch.uint8 and given.ndim == 1
        return FileBytes(given.numpy().tobytes(), "bytes") if is_bytes else None
    return read_bytes(given)


def _decode_alone(data: bytes) -> Any:
    coded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    return tv_io.decode_jpeg(coded).permute(1, 2, 0).numpy()


def _has_same_decoder() -> bool:
    try:
        return decodes_as_pillow(_decode_alone)
    except RuntimeError:  # built without one
        return False
