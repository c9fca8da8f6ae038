"""What a Dataset comes to: files, labels, and what happens to each image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from penstock.sources.file_source import FileSource
from penstock.sources.path_table import PathTable
from penstock.sources.source import Labels
from penstock.transforms.targets import Targets
from penstock.translation.datasets.target_forms import PlainLabels, TargetForm
from penstock.translation.tracing.values import UnfollowableError

IMAGE, LABEL = "image", "label"

Template: TypeAlias = str | tuple["Template", ...] | dict[str, "Template"]  # of one sample


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """What a Dataset holds, sample by sample, and what it does to each image."""

    title: str
    paths: tuple[str | bytes | os.PathLike[str], ...]
    labels: Labels
    classes: tuple[str, ...] | None
    modes: tuple[str, ...]  # that images are converted to on loading, one after the other
    steps: tuple[Any, ...]
    template: Template
    targets: Targets | None = None  # boxes, where the Dataset has them in place of labels
    form: TargetForm | None = None  # what stands for the label; `labels` are positions then

    def pick(self, indices: Sequence[int]) -> Samples:
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

    def one_by_one(self) -> Samples:
        """Return the same with images that may differ in size, and a target each."""
        if self.targets is not None:
            return self
        none = Targets(offsets=np.zeros(len(self.paths) + 1, dtype=np.int64))
        if self.form is not None:
            return replace(self, targets=none)
        positions = np.arange(len(self.paths))
        return replace(self, targets=none, form=PlainLabels(self.labels), labels=positions)

    def source(self) -> FileSource:
        """Return the same for a loader."""
        files = PathTable.from_paths(os.fsencode(path) for path in self.paths)
        return FileSource(self.title, os.getcwd(), files, self.labels, self.classes)
