"""The source behind folders, labels files and lists: one image file per sample."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from penstock.geometry import Ints
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.sources.path_table import PathTable
from penstock.sources.source import Labels

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class FileSource:
    """Image files below one folder, each with a label, or all of them without."""

    title: str  # how the user named the data; opens `describe()`
    root: str  # absolute, so that a later change of the working directory does no harm
    files: PathTable  # relative to `root`, or absolute
    labels: Labels | None
    classes: tuple[str, ...] | None
    left_out: tuple[str, ...] = field(default=(), kw_only=True)  # found, but not regular files

    def __len__(self) -> int:
        return len(self.files)

    def paths(self, indices: Ints) -> list[str]:
        """Return the absolute paths of these samples."""
        return [os.path.join(self.root, file) for file in self.files.at(indices)]

    def open(self, index: int) -> BinaryIO:
        """Open one image file."""
        return open_regular(os.path.join(self.root, self.files[index]))

    def name(self, index: int) -> str:
        """Return the path below the folder, with undecodable bytes spelled out."""
        return printable(self.files[index])

    def describe(self) -> str:
        """Return one line: what, how many images, which labels."""
        count = len(self)
        images = f"{self.title}: {count:,} image{'' if count == 1 else 's'}"
        if self.classes is not None:
            many = "" if len(self.classes) == 1 else "es"
            images += f" in {len(self.classes):,} class{many}"
        else:
            labels = self.labels
            told = (
                "no labels" if labels is None else describe_labels(labels.dtype, labels.shape[1:])
            )
            images += f", {told}"
        return f"{images}; {describe_left_out(self.left_out)}" if self.left_out else images


def describe_left_out(names: tuple[str, ...]) -> str:
    """Return which special files were found and are not among the samples."""
    shown = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"left out, as they are no regular files: {shown}{more}"


def describe_labels(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """Return what kind of labels these are, for people; `shape` is that of one sample's."""
    kind = "float" if dtype.kind == "f" else "integer"
    width = f" of {' x '.join(map(str, shape))} numbers" if shape else ""
    return f"{kind} labels{width}"
