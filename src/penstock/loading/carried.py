"""What the samples of a part carry beside their images, as far as the transforms have gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.data.masks import Masks, count_of
from penstock.data.targets import TargetSource
from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import Batch
from penstock.loading.fetch import Items
from penstock.loading.parts import Part
from penstock.transforms.targets import Targets

MASK_NUMBER = "mask_number"  # an object's mask among those of its sample, kept as a column


class PartTargets:
    """Targets and masks of the items of a part."""

    def __init__(
        self, source: TargetSource | None, part: Part, masks: dict[int, Masks] | None = None
    ) -> None:
        self._part = part
        self._items: Items = np.arange(len(part.slots), dtype=np.int32)
        self._targets = None if source is None else source.of(part.samples)
        self.masks = masks or {}  # by item
        if self.masks and self._targets is not None and _has_objects(self._targets):
            self._targets = _numbered(self._targets, self.masks, part.samples)

    def at(self, items: Items) -> Targets | None:
        """Return the targets of these items, which are some of those last kept."""
        if self._targets is None or len(items) == len(self._items):
            return self._targets
        return self._targets.pick(np.searchsorted(self._items, items))

    def keep(self, items: Items, targets: Targets | None) -> None:
        """Go on with these items and these targets of theirs."""
        self._items, self._targets = items, targets

    def wanted_masks(self, items: Items) -> list[Ints]:
        """Return which masks of each of the items last kept still have an object."""
        targets = self._targets
        if targets is None or MASK_NUMBER not in targets.extras:
            return [np.arange(count_of(self.masks[item])) for item in items.tolist()]
        return np.split(targets.extras[MASK_NUMBER], targets.offsets[1:-1])

    def put_masks(self, items: Items, masks: Sequence[Masks]) -> None:
        """Go on with the masks that `wanted_masks` has named for these items, moved."""
        self.masks.update(zip(items.tolist(), masks, strict=True))
        if self._targets is not None and MASK_NUMBER in self._targets.extras:
            numbers = np.arange(len(self._targets.owners)) - np.repeat(
                self._targets.offsets[:-1], self._targets.counts
            )
            extras = {**self._targets.extras, MASK_NUMBER: numbers}
            self._targets = replace(self._targets, extras=extras)

    def deliver(self, batch: Batch, items: Items) -> None:
        """Hand over what these items carry."""
        if not len(items):
            return
        slots = self._part.slots[items]
        targets = self.at(items)
        masks = [self.masks[item] for item in items.tolist()] if self.masks else None
        if masks is not None and (targets is None or not _has_objects(targets)):
            batch.put_label_maps(slots, [stack[0] for stack in masks])
            masks = None
        if targets is not None:
            left = {name: rows for name, rows in targets.extras.items() if name != MASK_NUMBER}
            batch.put_targets(slots, replace(targets, extras=left), masks)


def _has_objects(targets: Targets) -> bool:
    return targets.boxes is not None or targets.keypoints is not None


def _numbered(targets: Targets, masks: dict[int, Masks], samples: Ints) -> Targets:
    """Number the masks of every sample; there must be one for each object."""
    counts = targets.counts
    for item, stack in masks.items():
        found = count_of(stack)
        if found != counts[item]:
            raise LoaderError(
                f"Loader: sample {int(samples[item])} has {found} masks for {counts[item]} "
                "objects. Pack one for each object, or leave masks out."
            )
    numbers = np.arange(int(targets.offsets[-1])) - targets.offsets[targets.owners]
    return replace(targets, extras={**targets.extras, MASK_NUMBER: numbers})
