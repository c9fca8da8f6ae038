"""What a loader delivers beside the images of a data set: labels, targets, masks, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.data.columns import (
    ColumnValues,
    LabelColumn,
    label_column,
    open_columns,
    per_box_columns,
)
from penstock.data.masks import MaskKind, MaskUse, open_masks
from penstock.data.targets import TargetSource, open_targets
from penstock.errors import LoaderError
from penstock.limits import Limits
from penstock.sources import Source
from penstock.transforms.targets import Targets


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes with each image, where it is read from, and how it is delivered."""

    source: Source
    targets: TargetSource | None  # objects that follow the transforms
    masks: MaskUse | None  # masks that do
    columns: Mapping[str, ColumnValues]  # by name, in the order in which they were asked for
    asked: Targets | str | None  # the loader's `targets`

    @property
    def has_label_maps(self) -> bool:
        """Whether there is a mask of class numbers for each image."""
        return self.masks is not None and self.masks.kind is MaskKind.LABELS

    @property
    def padded(self) -> bool:
        """Whether targets come in arrays over the batch."""
        return self.asked == "padded"

    @property
    def flat(self) -> bool:
        """Whether targets come in flat arrays over the batch, as trainers of YOLO take them."""
        return self.asked == "yolo"

    @property
    def sizes_may_differ(self) -> bool:
        """Whether the images of a batch may have different sizes."""
        return self.follows_images and not self.flat

    @property
    def wants_labels(self) -> bool:
        """Whether labels are delivered where no columns are asked for."""
        return self.targets is None and not self.has_label_maps and self.asked != "none"

    def labels(self) -> LabelColumn | None:
        """Return the labels to deliver, if any; LoaderError if they are asked for and missing."""
        if not self.wants_labels:
            return None
        found = label_column(self.source)
        if found is None and self.asked == "labels":
            raise LoaderError(
                f"Loader: targets='labels', but {self.source.describe()} has none. "
                "Use targets='none' for images alone."
            )
        return found

    @property
    def follows_images(self) -> bool:
        """Whether anything but labels is delivered, which follows the transforms."""
        return self.targets is not None or self.masks is not None

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the labels delivered, in the order of their numbers, if they are known."""
        return self.source.classes if self.targets is None else self.targets.classes


def open_beside(
    source: Source,
    *,
    targets: Targets | str | None,
    masks: object,
    mask_fill: object,
    background: bool,
    columns: Sequence[str] | None,
    limits: Limits,
) -> Beside:
    """Return what a loader delivers beside images; the arguments are those of `Loader`."""
    used_masks = open_masks(source, masks, mask_fill, targets, limits)
    has_maps = used_masks is not None and used_masks.kind is MaskKind.LABELS
    asked = open_columns(source, columns)
    if targets == "yolo" and asked:
        raise LoaderError(
            "Loader: targets='yolo' makes batches that have no columns. Leave out columns, or use "
            "targets='list' or 'padded'."
        )
    own_targets = isinstance(targets, Targets)
    per_box = () if own_targets else per_box_columns(source, asked)
    # For masks of whole images, "list" and "padded" say in which form they are delivered.
    says_how = has_maps and targets in ("list", "padded")
    objects = open_targets(
        source, None if says_how else targets, background=background, extras=per_box
    )
    left = {name: c for name, c in asked.items() if objects is None or name not in per_box}
    return Beside(source, objects, used_masks, left, targets)
