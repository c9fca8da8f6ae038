"""Where a loader gets the objects of its images from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.packed_source import PackedSource
from penstock.loading.packed_targets import PackedTargets
from penstock.sources import Source
from penstock.transforms.targets import Targets

# Names of the numbers that are no class, as torchvision spells them in its weights' categories.
BACKGROUND, UNUSED = "__background__", "N/A"


class TargetSource(Protocol):
    """What samples carry beside their images."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the objects' labels, in the order of the numbers, if they are known."""
        ...

    def of(self, indices: Ints) -> Targets:
        """Return what these samples carry."""
        ...

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        ...


@dataclass(frozen=True, slots=True)
class GivenTargets:
    """Targets that the user has in memory, a row for each sample."""

    targets: Targets
    classes: tuple[str, ...] | None = None

    def of(self, indices: Ints) -> Targets:
        """Return what these samples carry."""
        return self.targets.pick(indices)

    def image_ids(self, indices: Ints) -> Ints:
        """Return positions."""
        return indices


class DetectionTargets:
    """The objects of a packed data set, with the labels that detection models take.

    With `background`, 0 is the background and a class has the number that its data set gives it,
    as with COCO's category ids; without, classes are counted from 0. `extras` are the columns
    beyond boxes, labels and keypoints.
    """

    def __init__(
        self, packed: PackedTargets, *, background: bool, extras: tuple[str, ...] = ()
    ) -> None:
        self._packed = packed
        self._extras = extras
        self._ids = packed.box_class_ids
        self._background = background
        names = packed.box_classes
        self.classes = packed.classes if self._ids is None else names
        if background and names is not None and self._ids is not None:
            self.classes = _names_by_id(names, self._ids)

    def of(self, indices: Ints) -> Targets:
        """Return what these samples carry."""
        targets = self._packed.of(indices, self._extras)
        if targets.labels is None or self._ids is None or not len(targets.labels):
            return targets
        labels, known = targets.labels, len(self._ids)
        if labels.min() < 0 or (known and labels.max() >= known):
            raise LoaderError(
                f"Loader: a box has the label {labels[(labels < 0) | (labels >= known)][0]}; "
                f"labels count from 0{f' to {known - 1}' if known else ''}. Repack the data set."
            )
        if not self._background:
            return targets
        return replace(targets, labels=self._ids[labels] if known else labels + 1)

    def image_ids(self, indices: Ints) -> Ints:
        """Return the data set's own numbers of these samples, or their positions."""
        return self._packed.image_ids(indices)


def _names_by_id(names: tuple[str, ...], ids: Ints) -> tuple[str, ...]:
    """Names in the order of ids, with the background first."""
    listed = [BACKGROUND, *[UNUSED] * int(ids.max(initial=0))]
    for name, number in zip(names, ids.tolist(), strict=True):
        listed[number] = name
    return tuple(listed)


def open_targets(
    source: Source,
    given: Targets | None,
    *,
    wanted: bool | None,
    background: bool = True,
    extras: tuple[str, ...] = (),
) -> TargetSource | None:
    """Return what the samples carry; None for labels only.

    `wanted` says whether the user asked for targets; None takes them where there are some.
    """
    if given is not None:
        if len(given) != len(source):
            raise LoaderError(
                f"Loader: targets are for {len(given):,} samples, the data set has "
                f"{len(source):,}. Give one row for each."
            )
        return GivenTargets(given)
    found = source.targets if isinstance(source, PackedSource) else None
    if found is not None:
        if wanted is False:
            return None
        return DetectionTargets(found, background=background, extras=extras)
    if wanted:
        raise LoaderError(
            f"Loader: {source.describe()} has no boxes or keypoints. Pack a data set that has, or "
            "give targets=penstock.read_targets(...)."
        )
    return None
