"""The images of a batch one by one, each with what goes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.certifying.images import MOST_DIMENSIONS, Pixels, as_pixels, shape_text
from penstock.errors import CertifyError

# What loaders call the images of a batch that is a dictionary.
IMAGE_KEYS = ("image", "images", "img", "pixel_values", "pixels", "data", "jpg", "jpeg", "png")


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """One image as a pipeline gave it, with the rest of its sample; views of it count as one."""

    views: tuple[Pixels, ...]
    label: Any  # None if there is nothing besides the image


def split_batch(batch: Any, where: str) -> list[Given]:
    """Return the images of a batch: of a tensor, a tuple that begins with one, a dictionary."""
    is_images = isinstance(batch, (list, tuple)) and batch and all(map(_is_image, batch))
    images, rest = (batch, None) if is_images else _parted(batch, where)
    views = _views(images, where)
    count = len(views[0])
    if any(len(view) != count for view in views):
        lengths = ", ".join(f"{len(view):,}" for view in views)
        raise CertifyError(f"{where}: its views have {lengths} images. They need as many each.")
    labels = list(_rows(rest, count, where))
    return [
        Given(tuple(_image(view[row], where) for view in views), labels[row])
        for row in range(count)
    ]


def split_sample(sample: Any, where: str) -> list[Given]:
    """Return the image of a single sample, as a Dataset gives it."""
    images, rest = _parted(sample, where)
    if isinstance(images, (list, tuple)) and images:
        return [Given(tuple(_image(view, where) for view in images), rest)]
    return [Given((_image(images, where),), rest)]


def _parted(given: Any, where: str) -> tuple[Any, Any]:
    """Return the images, and all the rest; None if there is none."""
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], Mapping):
        given = given[0]  # DALI: a dictionary for each of its pipelines
    if isinstance(given, Mapping):
        keys = [key for key in IMAGE_KEYS if key in given]
        if len(keys) != 1:
            found = ", ".join(map(repr, keys or list(given)[:8]))
            what = "several entries that may be the images" if keys else "no entry for the images"
            raise CertifyError(
                f"{where}: a dictionary with {what}: {found}. Give (image, label), or a dictionary "
                f"with exactly one of {', '.join(IMAGE_KEYS)}."
            )
        rest = {key: given[key] for key in given if key != keys[0]}
        return given[keys[0]], rest or None
    if isinstance(given, (list, tuple)) and given:
        first, *others = given
        return first, dict(enumerate(others)) if len(others) > 1 else others[0] if others else None
    return given, None


def _is_image(given: Any) -> bool:
    found = as_pixels(given)
    return found is not None and 2 <= len(found.shape) <= MOST_DIMENSIONS


def _views(images: Any, where: str) -> list[Sequence[Any]]:
    """Return one sequence of images for each view of a batch."""
    if isinstance(images, (list, tuple)) and images:
        found = [as_pixels(entry) for entry in images]
        if all(one is not None and len(one.shape) == MOST_DIMENSIONS + 1 for one in found):
            return [_rows_of(one, where) for one in found if one is not None]
        return [images]
    return [_rows_of(as_pixels(images), where, type(images).__name__)]


def _rows_of(batch: Pixels | None, where: str, kind: str = "array") -> Sequence[Any]:
    if batch is None or len(batch.shape) != MOST_DIMENSIONS + 1:
        got = f"a {kind}" if batch is None else f"an array of {shape_text(batch.shape)}"
        raise CertifyError(
            f"{where}: images of a batch must be an array (batch, channels, height, width) or "
            f"(batch, height, width, channels), or a list of images; got {got}. If these are "
            "single samples, give the Dataset."
        )
    return [Pixels(row, batch.dtype) for row in batch.stored]


def _image(given: Any, where: str) -> Pixels:
    found = given if isinstance(given, Pixels) else as_pixels(given)
    if found is None:
        raise CertifyError(
            f"{where}: got a {type(given).__name__} as an image. Give an array, a tensor or a "
            "Pillow image."
        )
    if not 2 <= len(found.shape) <= MOST_DIMENSIONS or 0 in found.shape:
        raise CertifyError(
            f"{where}: an image must have a height, a width and perhaps channels, got an array of "
            f"{shape_text(found.shape) or 'one number'}."
        )
    return found


def _rows(rest: Any, count: int, where: str) -> Iterator[Any]:
    """Yield what goes with each image, from what goes with all of them."""
    if rest is None:
        yield from [None] * count
        return
    if isinstance(rest, Mapping):
        columns = {key: list(_rows(rest[key], count, where)) for key in rest}
        yield from ({key: columns[key][row] for key in columns} for row in range(count))
        return
    if isinstance(rest, (list, tuple)) and len(rest) == count:
        yield from rest
        return
    if isinstance(rest, (list, tuple)):
        yield from zip(*(list(_rows(entry, count, where)) for entry in rest), strict=True)
        return
    found = as_pixels(rest)
    if found is None or not found.shape or found.shape[0] != count:
        got = f"a {type(rest).__name__}" if found is None else f"an array of {found.shape}"
        raise CertifyError(
            f"{where}: it has {_images(count)}, and beside them {got}, so it is not known what "
            "goes with which image. Give one entry for each image, or leave labels out of the "
            "comparison with labels=False (--no-labels)."
        )
    yield from (Pixels(row, found.dtype) for row in found.stored)


def _images(count: int) -> str:
    return f"{count:,} image{'' if count == 1 else 's'}"
