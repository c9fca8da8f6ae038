"""What the samples of a part carry beside their images, as far as the transforms have gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.batch import Batch
from penstock.loading.fetch import Items
from penstock.loading.masks import Mask
from penstock.loading.target_source import TargetSource
from penstock.loading.work import Part
from penstock.transforms.targets import Targets

MASK_NUMBER = "mask_number"  # an object's mask among those of its sample, kept as a column


class Carried:
    """Targets and masks of the items of a part."""

    def __init__(self, source: TargetSource | None, part: Part) -> None:
        self._part = part
        self._items: Items = np.arange(len(part.slots), dtype=np.int32)
        self._targets = None if source is None else source.of(part.files)
        self.masks: dict[int, Mask] = {}
        if source is not None and self._targets is not None:
            self.masks = _read_masks(source, part.files)
            if self.masks:
                self._targets = _numbered(self._targets, self.masks, part.files)

    def at(self, items: Items) -> Targets | None:
        """Return the targets of these items, which are some of those last kept."""
        if self._targets is None or len(items) == len(self._items):
            return self._targets
        return self._targets.pick(np.searchsorted(self._items, items))

    def keep(self, items: Items, targets: Targets | None) -> None:
        """Go on with these items and these targets of theirs."""
        self._items, self._targets = items, targets

    def deliver(self, batch: Batch, items: Items) -> None:
        """Hand over what these items carry."""
        targets = self.at(items)
        if targets is None or not len(items):
            return
        masks = [self.masks[item] for item in items.tolist()] if self.masks else None
        if masks is not None and MASK_NUMBER in targets.extras:
            numbers = np.split(targets.extras[MASK_NUMBER], targets.offsets[1:-1])
            masks = [stack[chosen] for stack, chosen in zip(masks, numbers, strict=True)]
            left = {name: rows for name, rows in targets.extras.items() if name != MASK_NUMBER}
            targets = replace(targets, extras=left)
        batch.put_targets(self._part.slots[items], targets, masks)


def _read_masks(source: TargetSource, files: Ints) -> dict[int, Mask]:
    masks: dict[int, Mask] = {}
    for item, file in enumerate(files.tolist()):
        found = source.masks(file)
        if found is None:
            return {}
        masks[item] = found
    return masks


def _numbered(targets: Targets, masks: dict[int, Mask], files: Ints) -> Targets:
    """Number the objects' masks, unless the masks are whole images' own: then one each."""
    counts = np.array([len(stack) for stack in masks.values()])
    if targets.boxes is None and targets.keypoints is None:
        if (counts != 1).any():
            row = int((counts != 1).argmax())
            raise LoaderError(
                f"Loader: sample {int(files[row])} has {counts[row]} masks; without boxes or "
                "keypoints each image needs one. Repack it with one, or leave masks out."
            )
        return targets
    odd = np.flatnonzero(counts != targets.counts)
    if len(odd):
        row = int(odd[0])
        raise LoaderError(
            f"Loader: sample {int(files[row])} has {counts[row]} masks for "
            f"{targets.counts[row]} objects. Pack one for each object, or leave masks out."
        )
    numbers = np.arange(int(targets.offsets[-1])) - targets.offsets[targets.owners]
    return replace(targets, extras={**targets.extras, MASK_NUMBER: numbers})
