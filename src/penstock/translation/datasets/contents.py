"""What was read from a Dataset: files, labels or targets, and what happens to each image."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from penstock.sources.source import FileSource, Labels, PathTable
from penstock.transforms.targets import Targets
from penstock.translation.tracing.values import UnfollowableError

IMAGE, LABEL = "image", "label"

# Where the image and the label stand in a sample, such as (IMAGE, LABEL) or {"pixels": IMAGE}.
Nesting: TypeAlias = str | tuple["Nesting", ...] | dict[str, "Nesting"]


@dataclass(frozen=True, slots=True, eq=False)
class TargetForm:
    """How the target of a sample is put together once its batch is ready.

    `build` gets the sample's position in the Dataset, and its boxes and labels after all steps.
    """

    build: Callable[[int, Mapping[str, Any]], Any]
    python: str = ""  # what runs in Python for each sample, by name; "" if that costs little


@dataclass(frozen=True, slots=True, eq=False)
class DatasetContents:
    """What a Dataset holds, sample by sample, and what it does to each image."""

    title: str
    paths: tuple[str | bytes | os.PathLike[str], ...]
    labels: Labels
    classes: tuple[str, ...] | None
    modes: tuple[str, ...]  # that images are converted to on loading, one after the other
    steps: tuple[Any, ...]
    nesting: Nesting = (IMAGE, LABEL)
    targets: Targets | None = None  # boxes, where the Dataset has them in place of labels
    target_form: TargetForm | None = None  # if there is one, `labels` are positions

    def pick(self, indices: Sequence[int]) -> DatasetContents:
        """Return some of the samples, in this order."""
        chosen = np.asarray(indices, dtype=np.int64)
        if len(chosen) and chosen.min() < 0:
            raise UnfollowableError(f"sample {chosen.min()} is asked for; they count from 0")
        return replace(
            self,
            paths=tuple(self.paths[index] for index in indices),
            labels=self.labels[chosen],
            targets=None if self.targets is None else self.targets.pick(chosen),
        )

    def unstacked(self) -> DatasetContents:
        """Return the same for batches that are lists: images of any size, each with a target."""
        if self.targets is not None:
            return self
        none = Targets(offsets=np.zeros(len(self.paths) + 1, dtype=np.int64))
        if self.target_form is not None:
            return replace(self, targets=none)
        labels, positions = self.labels, np.arange(len(self.paths))
        form = TargetForm(lambda position, _: labels[position].item())
        return replace(self, targets=none, target_form=form, labels=positions)

    def source(self) -> FileSource:
        """Return the files and labels as a loader takes them."""
        files = PathTable.from_paths(os.fsencode(path) for path in self.paths)
        return FileSource(self.title, os.getcwd(), files, self.labels, self.classes)
