"""Where a loader gets the objects of its images from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from penstock.errors import LoaderError
from penstock.geometry import Ints
from penstock.loading.packed_source import PackedSource
from penstock.sources import Source
from penstock.transforms.targets import Targets


class TargetSource(Protocol):
    """What samples carry beside their images."""

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

    def of(self, indices: Ints) -> Targets:
        """Return what these samples carry."""
        return self.targets.pick(indices)

    def image_ids(self, indices: Ints) -> Ints:
        """Return positions."""
        return indices


def open_targets(
    source: Source, given: Targets | None, *, wanted: bool | None
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
    if wanted is None or found is not None:
        return found if wanted is not False else None
    if wanted:
        raise LoaderError(
            f"Loader: {source.describe()} has no boxes or keypoints. Pack a data set that has, or "
            "give targets=read_targets(...)."
        )
    return None
