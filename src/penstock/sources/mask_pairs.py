"""Masks of class numbers, and images and masks in two folders.

Files belong together if their names agree: `images/a/1.jpg`, `masks/a/1.png`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock.errors import DecodeError, PenstockError, SourceError
from penstock.limits import how_to_allow, too_many_pixels
from penstock.printable import printable
from penstock.regular_file import NotRegularError, open_regular
from penstock.resources import raise_if_refused
from penstock.sources.image_folder import existing_folder
from penstock.sources.open_source import open_file_list
from penstock.sources.scan import IMAGE_EXTENSIONS
from penstock.sources.source import FileSource, PathTable

MASK_EXTENSIONS = (*IMAGE_EXTENSIONS, ".gif")
_MOST_NAMED = 20

PathLike = str | os.PathLike[str]
LabelMap = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]  # (height, width)
_EXIF_ORIENTATION = 0x0112
_MOST_LABEL = 65_535


@dataclass(frozen=True, slots=True, eq=False)
class MaskPairs(FileSource):
    """Image files, each with a mask file."""

    mask_root: str
    masks: PathTable  # relative to `mask_root`, or absolute

    def mask_path(self, index: int) -> str:
        """Return the absolute path of a sample's mask."""
        return os.path.join(self.mask_root, self.masks[index])

    def describe(self) -> str:
        """Return one line: what, and how many images."""
        count = len(self)
        return f"{self.title}: {count:,} image{'' if count == 1 else 's'} with masks"


def open_mask_pairs(
    images: PathLike | Iterable[PathLike],
    masks: PathLike | Iterable[PathLike],
    *,
    below: str = "",
) -> MaskPairs:
    """Open two folders, or two lists of files in the same order.

    Files in folders belong together if their paths below the folders agree but for the extension.

    Args:
        images: The folder of the images, or a list of files.
        masks: The folder of the masks, or a list of as many files.
        below: Only what lies below a folder of this name in both.

    Raises SourceError that names every file without a partner.
    """
    given_folder, mask_folder = (isinstance(each, (str, os.PathLike)) for each in (images, masks))
    if given_folder != mask_folder:
        raise SourceError(
            "masks: one of images and masks is a folder, the other a list of files. Give two "
            "folders, or two lists in the same order."
        )
    if not given_folder:
        return _from_lists(images, masks)  # type: ignore[arg-type]
    image_root = os.path.join(existing_folder(images), below)  # type: ignore[arg-type]
    mask_root = os.path.join(existing_folder(masks), below)  # type: ignore[arg-type]
    title = printable(os.path.join(os.fspath(images), below))  # type: ignore[arg-type]
    found_images = _files_below(image_root, IMAGE_EXTENSIONS)
    found_masks = _files_below(mask_root, MASK_EXTENSIONS)
    image_of, mask_of = _by_stem(found_images, image_root), _by_stem(found_masks, mask_root)
    alone = [image_of[stem] for stem in image_of if stem not in mask_of]
    unused = [mask_of[stem] for stem in mask_of if stem not in image_of]
    if alone or unused or not image_of:
        raise SourceError(_unmatched(title, printable(mask_root), alone, unused, len(image_of)))
    files = list(image_of.values())
    return MaskPairs(
        title=title,
        root=image_root,
        files=PathTable.from_paths(os.fsencode(file) for file in files),
        labels=np.zeros(len(files), np.int64),
        classes=None,
        mask_root=mask_root,
        masks=PathTable.from_paths(os.fsencode(mask_of[stem]) for stem in image_of),
    )


def _from_lists(images: Iterable[PathLike], masks: Iterable[PathLike]) -> MaskPairs:
    opened, paths = open_file_list(images), open_file_list(masks)
    if len(opened) != len(paths):
        raise SourceError(
            f"masks: {len(paths):,} files for {len(opened):,} images. Give one for each image, in "
            "the same order."
        )
    return MaskPairs(
        title=opened.title,
        root=opened.root,
        files=opened.files,
        labels=opened.labels,
        classes=None,
        mask_root=paths.root,
        masks=paths.files,
    )


def _files_below(folder: str, extensions: tuple[str, ...]) -> list[str]:
    found: list[str] = []

    def refuse(error: OSError) -> None:
        raise SourceError(
            f"{printable(error.filename)}: this folder cannot be read ({error.strerror})."
        ) from error

    for directory, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        prefix = os.path.relpath(directory, folder)
        found += [
            name if prefix == "." else os.path.join(prefix, name)
            for name in names
            if name.lower().endswith(extensions) and not name.startswith(".")
        ]
    return sorted(found)


def _by_stem(files: list[str], root: str) -> dict[str, str]:
    by_stem: dict[str, str] = {}
    for file in files:
        stem = os.path.splitext(file)[0]
        if stem in by_stem:
            raise SourceError(
                f"{printable(root)}: {printable(by_stem[stem])} and {printable(file)} differ in "
                "their extensions only, so it is not clear which one is meant. Remove one."
            )
        by_stem[stem] = file
    return by_stem


def _unmatched(title: str, masks: str, alone: list[str], unused: list[str], images: int) -> str:
    if not images:
        return f"{title}: no image file in it. Give the folder of the images."
    parts = [
        f"{len(files):,} {what}: {_listed(files)}"
        for files, what in ((alone, "images have no mask"), (unused, "masks have no image"))
        if files
    ]
    return (
        f"{title} and {masks}: {'; '.join(parts)}. Names must agree but for the extension "
        "(a/1.jpg, a/1.png); rename or remove these files, or give two lists of files."
    )


def _listed(files: list[str]) -> str:
    named = ", ".join(printable(Path(file).as_posix()) for file in files[:_MOST_NAMED])
    more = len(files) - _MOST_NAMED
    return named + (f" and {more:,} more" if more > 0 else "")


def read_label_map(file: bytes | str | os.PathLike[str]) -> LabelMap:
    """Return the numbers in a mask file: palette indices, gray levels, or 0 and 1.

    Raises DecodeError, without the file's name, for what holds no class numbers.
    """
    try:
        with (
            io.BytesIO(file) if isinstance(file, bytes) else open_regular(file) as opened,
            PIL.Image.open(opened) as image,
        ):
            check_label_map(image)
            return _numbers(image)
    except PenstockError:
        raise
    except NotRegularError as error:
        raise DecodeError(f"its mask cannot be read: {error.strerror}") from error
    except PIL.Image.DecompressionBombError as error:
        raise DecodeError(f"its mask cannot be read. {error}. {how_to_allow('pixels')}") from error
    # Decoders for hostile files raise nearly anything: struct.error, IndexError, SyntaxError ...
    except Exception as error:
        raise_if_refused(error, "a mask" if isinstance(file, bytes) else printable(file))
        text = " ".join(str(error).split())
        raise DecodeError(f"its mask cannot be read ({type(error).__name__}: {text})") from error


def check_label_map(image: PIL.Image.Image) -> None:
    """Raise DecodeError unless an opened file can be a label map, by what its header says."""
    problem = too_many_pixels(image.height, image.width, "the header of its mask says")
    if problem is not None:
        raise DecodeError(problem)
    if image.mode not in {"P", "L", "1", "I", "I;16", "I;16B", "I;16L"}:
        raise DecodeError(
            f"its mask is in colour ({image.mode}), where one class number for each pixel is "
            "needed. Save masks as gray or palette PNGs whose values are the classes"
        )
    if image.format == "JPEG":
        raise DecodeError(
            "its mask is a JPEG, which blurs class numbers into their neighbours. Save masks as "
            "PNGs"
        )
    turned = image.getexif().get(_EXIF_ORIENTATION, 1)
    if turned != 1:
        raise DecodeError(
            f"its mask carries the EXIF orientation {turned}. Images and masks are used as they "
            "are stored: save the mask without it, turned as its image's pixels are"
        )


def png_of_label_map(labels: LabelMap) -> bytes:
    """Return a label map as a gray PNG."""
    file = io.BytesIO()
    PIL.Image.fromarray(labels).save(file, "PNG")
    return file.getvalue()


def sizes_differ(mask: tuple[int, ...], image: tuple[int, ...]) -> str:
    """Return the reason why a mask does not fit its image; both (height, width)."""
    reason = f"its mask is {mask[0]}x{mask[1]}, the image {image[0]}x{image[1]} (height x width)"
    if mask == image[::-1]:
        reason += (
            ". If the image carries an EXIF orientation, the mask was drawn on the turned image: "
            "images are used as they are stored, so turn the mask back"
        )
    return reason


def _numbers(image: PIL.Image.Image) -> LabelMap:
    values: npt.NDArray[Any] = np.asarray(image)
    if image.mode == "I":
        if values.min() < 0 or values.max() > _MOST_LABEL:
            raise DecodeError(
                f"its mask has values from {values.min():,} to {values.max():,}; class numbers "
                f"from 0 to {_MOST_LABEL:,} are needed"
            )
        return values.astype(np.uint16)
    return values.astype(np.uint16 if image.mode.startswith("I;16") else np.uint8)
