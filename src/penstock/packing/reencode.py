"""Smaller images on request: shorter sides, or JPEG quality. Lossy, so never by default.

Boxes, keypoints and masks shrink with their image.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import PackError
from penstock.geometry import Size
from penstock.packing.mask_runs import are_runs, each_mask, encode_runs, read_header
from penstock.packing.records import JPEG_START, as_png, exif_of, opened, orientation_of

DEFAULT_QUALITY = 90


@dataclass(frozen=True, slots=True)
class Reencoding:
    """How images are made smaller; by default they are not touched."""

    short_side: int | None = None
    quality: int | None = None

    def __post_init__(self) -> None:
        if self.short_side is not None and self.short_side < 1:
            raise PackError(f"short_side: must be 1 or more, got {self.short_side}.")
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise PackError(f"quality: must be from 1 to 100, got {self.quality}.")

    def settings(self) -> tuple[str, ...]:
        """Return what is asked for, as it is noted in the packed file."""
        asked = (("short_side", self.short_side), ("quality", self.quality))
        return tuple(f"{name}={value}" for name, value in asked if value is not None)


def reencode(
    data: bytes, columns: Mapping[str, Any], wanted: Reencoding
) -> tuple[bytes, Mapping[str, Any]] | None:
    """Return a smaller image file and the columns that go with it; None to keep the original.

    Without a quality, an image whose short side is short enough already is kept.
    """
    with opened(data) as image:
        size = _size(image.height, image.width, wanted.short_side)
        resized = size != (image.height, image.width)
        if not resized and wanted.quality is None:
            return None
        before = (image.height, image.width)
        smaller = _file(image, size, wanted.quality, was_jpeg=data.startswith(JPEG_START))
    return smaller, _scaled(columns, before, size) if resized else columns


def _size(height: int, width: int, short_side: int | None) -> tuple[int, int]:
    short = min(height, width)
    if short_side is None or short <= short_side:
        return height, width
    return tuple(max(1, round(side * short_side / short)) for side in (height, width))  # type: ignore[return-value]


def _file(
    image: PIL.Image.Image, size: tuple[int, int], quality: int | None, *, was_jpeg: bool
) -> bytes:
    height, width = size
    plain = image.convert("L" if image.mode == "L" else "RGB")
    plain = plain.resize((width, height), PIL.Image.Resampling.LANCZOS, reducing_gap=None)
    if quality is None and not was_jpeg:
        return as_png(plain, orientation_of(image))
    kept = {name: image.info[name] for name in ("icc_profile",) if name in image.info}
    exif = exif_of(orientation_of(image))
    file = io.BytesIO()
    plain.save(file, "JPEG", quality=quality or DEFAULT_QUALITY, exif=exif, **kept)
    return file.getvalue()


def _scaled(
    columns: Mapping[str, Any], before: tuple[int, int], after: tuple[int, int]
) -> Mapping[str, Any]:
    down, across = after[0] / before[0], after[1] / before[1]
    scaled = dict(columns)
    if "boxes" in scaled:
        boxes = np.asarray(scaled["boxes"], np.float64).reshape(-1, 4)
        scaled["boxes"] = (boxes * (across, down, across, down)).astype(np.float32)
    if "keypoints" in scaled and np.asarray(scaled["keypoints"]).size:
        points = np.asarray(scaled["keypoints"], np.float64)
        scaled["keypoints"] = (points * (across, down, 1)).astype(np.float32)
    if scaled.get("masks"):
        scaled["masks"] = _smaller_masks(scaled["masks"], before, after)
    return scaled


def _smaller_masks(masks: bytes, before: tuple[int, int], after: tuple[int, int]) -> bytes:
    if are_runs(masks):
        smaller_runs = (_smaller_mask(mask, after) for mask in each_mask(masks))
        return encode_runs(smaller_runs, read_header(masks)[0], Size(*after))
    with opened(masks) as stack:
        count = stack.height // before[0]
        if count * before[0] != stack.height or stack.width != before[1]:
            raise PackError(
                f"its masks are {stack.height}x{stack.width}, which is not a whole number of "
                f"{before[0]}x{before[1]} masks one above the other"
            )
        mode = stack.mode
        smaller = PIL.Image.new(mode, (after[1], after[0] * count))
        if mode == "P":
            smaller.putpalette(stack.getpalette() or [])
        for number in range(count):
            box = (0, number * before[0], before[1], (number + 1) * before[0])
            one = stack.crop(box).resize((after[1], after[0]), PIL.Image.Resampling.NEAREST)
            smaller.paste(one, (0, number * after[0]))
    file = io.BytesIO()
    smaller.save(file, "PNG")
    return file.getvalue()


def _smaller_mask(mask: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    height, width = size
    image = PIL.Image.fromarray(mask).resize((width, height), PIL.Image.Resampling.NEAREST)
    return np.asarray(image) > 0
