"""Small files of many kinds, opened by Pillow and deferred, and what becomes of both."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import torch

from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.opening import open_image

ORIENTATION = 0x0112
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'


def picture(width: int, height: int, mode: str = "RGB", seed: int = 0) -> PIL.Image.Image:
    """Return a smooth picture."""
    rng = np.random.default_rng([seed, width, height])
    coarse = rng.integers(0, 256, (height // 4 + 2, width // 4 + 2, 3), dtype=np.uint8)
    return PIL.Image.fromarray(coarse).resize((width, height)).convert(mode)


def coded(image: PIL.Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    """Return an image as a file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def turned(orientation: int) -> PIL.Image.Exif:
    """Return EXIF data that say how the camera was held."""
    exif = PIL.Image.Exif()
    exif[ORIENTATION] = orientation
    return exif


def undecodable() -> bytes:
    """Return a whole JPEG whose scan is of a component that its header does not have."""
    data = bytearray(coded(picture(23, 17)))
    third_component = data.index(b"\xff\xc0") + 16
    data[third_component] ^= 0xFF
    return bytes(data)


def _made() -> dict[str, bytes]:
    rgb, gray = picture(23, 17), picture(19, 21, "L")
    small = picture(12, 9)
    found = {
        "rgb": coded(rgb, dpi=(72, 72), comment=b"a remark", subsampling=0),
        "gray": coded(gray),
        "cmyk": coded(gray.convert("CMYK")),
        "progressive": coded(rgb, progressive=True),
        "one pixel": coded(picture(1, 1)),
        "thin": coded(picture(120, 1)),
        "xmp": coded(small, xmp=XMP),
        "cut short": coded(picture(40, 30), quality=95)[:-200],
        "cut short, with an end": coded(picture(40, 30), quality=95)[:-200] + b"\xff\xd9",
        "png": coded(small, "PNG", exif=turned(6)),
        "png palette": coded(small.quantize(16), "PNG"),
        "png gray": coded(small.convert("L"), "PNG", transparency=5),
        "png alpha": coded(small.convert("RGBA"), "PNG"),
        "png bits": coded(small.convert("1"), "PNG"),
        "png 16 bits": coded(small.convert("I;16"), "PNG"),
        "png of frames": coded(small, "PNG", save_all=True, append_images=[picture(12, 9, seed=1)]),
        "gif": coded(small, "GIF"),
        "webp": coded(small, "WEBP", exif=turned(3)),
        "bmp": coded(small, "BMP"),
        "tiff": coded(small, "TIFF"),
        "mpo": coded(small, "MPO", save_all=True, append_images=[picture(12, 9, seed=1)]),
        "nothing": b"",
        "no image": b"\xff\xd8\xff\xe0 no more than a beginning\xff\xd9",
    }
    return found | {f"exif {one}": coded(small, exif=turned(one)) for one in range(1, 9)}


FILES = _made()


def opened(data: bytes, *, deferred: bool) -> Any:
    """Open a file as a Dataset would."""
    if not deferred:
        return open_with_pillow(io.BytesIO(data))
    with deferring(Counts()):
        return open_image(io.BytesIO(data))


def late(module: Any, name: str) -> Callable[..., Any]:
    """Return a function of a module as it is when it is called: it may be replaced by then."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(module, name)(*args, **options)

    return call


def outcomes(data: bytes, *steps: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What steps lead to from a file, each after the other: with Pillow's image, and deferred.

    A step that returns nothing has changed the image. What is left of the file's own image counts
    too.
    """
    return _outcome(data, steps, deferred=False), _outcome(data, steps, deferred=True)


def _outcome(data: bytes, steps: tuple[Callable[[Any], Any], ...], *, deferred: bool) -> Any:
    image: Any = None

    def run() -> Any:
        nonlocal image
        found = image = opened(data, deferred=deferred)
        for step in steps:
            done = step(found)
            found = found if done is None else done
        return as_value(found)

    return _attempt(run), None if image is None else _attempt(lambda: as_value(image))


def _attempt(run: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception as error:
        kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        return kinds[0], re.sub(r"0x[0-9a-f]+|'\w*Image\w*'|'\w+' object", "", str(error))


def as_value(found: Any) -> Any:
    """Return what can be compared of a result."""
    if isinstance(found, PIL.Image.Image):
        info = {name: repr(value) for name, value in found.info.items()}
        palette = found.getpalette() if found.mode in ("P", "PA") else None
        return found.mode, found.size, _bytes_of(found), info, palette, found.format
    if isinstance(found, np.ndarray):
        return found.dtype, found.shape, found.tobytes(), found.flags.writeable
    if isinstance(found, torch.Tensor):
        return found.dtype, tuple(found.shape), found.detach().numpy().tobytes()
    if isinstance(found, list | tuple):
        return [as_value(one) for one in found]
    if isinstance(found, dict | PIL.Image.Exif):
        return {name: as_value(one) for name, one in dict(found).items()}
    return repr(found) if isinstance(found, float) else found  # some are not a number


def _bytes_of(image: PIL.Image.Image) -> bytes:
    return b"" if 0 in image.size else image.tobytes()
