"""The samples of a loader's coming epoch, in the form of torch's samplers.

Whoever looks into a loader for its samplers finds what will really come: after a state was loaded
these are the samples that are left of an epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.loading.course import Course
from penstock.rng import check_epoch


@dataclass(frozen=True, slots=True, eq=False)
class ComingBatches:
    """Lists the samples of this rank's coming epoch, batch by batch."""

    course: Course

    @property
    def batch_size(self) -> int:
        """Samples in a batch."""
        return self.course.batching.batch_size

    @property
    def drop_last(self) -> bool:
        """Whether a last batch that is shorter is left out."""
        return self.course.batching.drop_last

    @property
    def sampler(self) -> ComingSamples:
        """The same samples, one by one."""
        return ComingSamples(self.course)

    def __len__(self) -> int:
        return self.course.to_come().batch_count()

    def __iter__(self) -> Iterator[list[int]]:
        return (picked.samples.tolist() for picked in self.course.to_come().batches())


@dataclass(frozen=True, slots=True, eq=False)
class ComingSamples:
    """Lists the samples of this rank's coming epoch, one by one."""

    course: Course

    def set_epoch(self, epoch: int) -> None:
        """Make the loader run this epoch next; where frameworks tell which one they begin.

        A place within the epoch, from a state that was loaded, is kept.
        """
        self.course.tell(check_epoch("Loader.sampler", epoch))

    def __len__(self) -> int:
        return self.course.to_come().samples

    def __iter__(self) -> Iterator[int]:
        for picked in self.course.to_come().batches():
            yield from picked.samples.tolist()
