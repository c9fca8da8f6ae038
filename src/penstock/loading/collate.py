"""The targets of a batch as a training loop wants them: one dictionary a sample, or padded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.to_torch import label_tensor
from penstock.transforms.targets import Targets

Library = Literal["torch", "numpy"]

NO_LABEL = -1  # in the places of a padded batch that no object takes


def list_targets(targets: Targets, image_ids: Ints, library: Library) -> list[dict[str, Any]]:
    """One dictionary a sample, as torchvision's detection models take them.

    `boxes` is float32 (objects, 4), or int64 where they are whole numbers, `labels` int64
    (objects,), `keypoints` float32 (objects, points, 3), extra columns go by their names, and
    `image_id` is a number of Python's.
    """
    finish = _finish_for(library)
    columns = _columns(targets)
    bounds = zip(targets.offsets[:-1].tolist(), targets.offsets[1:].tolist(), strict=True)
    listed = [
        {name: finish(column[start:end].copy()) for name, column in columns.items()}
        | {"image_id": image_id}
        for image_id, (start, end) in zip(image_ids.tolist(), bounds, strict=True)
    ]
    boxes = columns.get("boxes")
    if targets.whole is not None and boxes is not None:
        for row in np.flatnonzero(targets.whole).tolist():
            start, end = targets.offsets[row : row + 2].tolist()
            listed[row]["boxes"] = finish(boxes[start:end].astype(np.int64))
    return listed


def pad_targets(
    targets: Targets, image_ids: Ints, library: Library, most: int | None = None
) -> dict[str, Any]:
    """All samples in one array for each column: (samples, most objects, ...).

    `most` is what the fullest sample of the batch has, unless given. `counts` says how many objects
    are real; behind them labels are -1, all else is 0. Boxes are float32, whole numbers too.
    """
    counts = targets.counts
    fullest = int(counts.max(initial=0))
    room = fullest if most is None else most
    if fullest > room:
        raise LoaderError(
            f"Targets are padded to {room} objects, but image {image_ids[int(counts.argmax())]} "
            f"has {fullest}. Raise the number, or leave it out."
        )
    owners = targets.owners
    places = np.arange(len(owners)) - targets.offsets[owners]
    padded: dict[str, npt.NDArray[Any]] = {"counts": counts, "image_id": image_ids}
    for name, column in _columns(targets).items():
        blank = NO_LABEL if name == "labels" else 0
        padded[name] = np.full((len(targets), room, *column.shape[1:]), blank, dtype=column.dtype)
        padded[name][owners, places] = column
    finish = _finish_for(library)
    return {name: finish(column) for name, column in padded.items()}


def _columns(targets: Targets) -> dict[str, npt.NDArray[Any]]:
    """Every column that is there, by the name it is delivered under."""
    named = {
        "boxes": targets.formatted_boxes(),
        "labels": targets.labels,
        "keypoints": targets.keypoints,
        **targets.extras,
    }
    return {name: column for name, column in named.items() if column is not None}


def _finish_for(library: Library) -> Callable[[npt.NDArray[Any]], Any]:
    return label_tensor if library == "torch" else np.ascontiguousarray
