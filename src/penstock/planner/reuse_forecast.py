"""What reuse will bring, before anything is run: speed, memory, diversity, and why it may not pay.

With reuse, an image costs its last part, and for those whose first part is not found in memory the
first part, too. Beside that, cutting a pipeline in two costs something: the image between the parts
is written to memory and read again, and samples go through the core in several runs instead of one:
those whose first part is found once, the others twice. A run costs the same for many samples and
for few, so that small batches, as large photos often come in, gain less.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.cut import Cut
from penstock.planner.reuse import ENTRY_BYTES, Echo, FirstPartUse

# Microseconds of one core that the prices of the two parts leave out, from `python -m
# benchmarks.reuse` and from the same loaders in batches of 3, 8, 16 and 64 small images.
_KEPT_US = 4.0  # for each first part that is computed: an array of its own, and noting it
_KEPT_US_PER_BYTE = 1.7e-4
_FOUND_US_PER_BYTE = 1.3e-4  # for each that is found: it is in no cache any more
_RUN_US = 250.0  # for each further run of some samples through the core
_PART_US = 980.0  # for each part of a batch, whether reused or not; prices are those of full parts
_FULL_PART = 64

_WORTH = 1.05  # a smaller gain is within the error of a prediction
_MOSTLY = 0.9  # of the uses of an image differ


@dataclass(frozen=True, slots=True)
class PartCosts:
    """Microseconds of one core for one image."""

    plain_us: float  # the whole pipeline, as it is run without reuse
    first_us: float
    rest_us: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of reuse in one process."""

    asked: FirstPartUse
    cut: Cut
    samples: int  # in an epoch of this process, each counted once
    image_bytes: float  # of an image after the first part, as a mean
    costs: PartCosts
    part_images: float = _FULL_PART  # that are run together: a batch, or a share of a large one

    @property
    def needed_bytes(self) -> int:
        """The memory with which no first part would be computed again for lack of room."""
        kept = self.asked.kept_samples(self.samples, fixed=self.cut.fixed)
        return round(kept * (self.image_bytes + ENTRY_BYTES))

    @property
    def fits(self) -> float:
        """The share of this that there is room for."""
        return min(1.0, self.asked.memory_bytes / max(1, self.needed_bytes))

    @property
    def found(self) -> float:
        """The share of images whose first part is found in memory, once that is filled."""
        return self.fits * self.asked.found_share(fixed=self.cut.fixed)

    @property
    def plain_us(self) -> float:
        """Microseconds of one core per image, without reuse."""
        return self.costs.plain_us + self._part_us

    @property
    def reused_us(self) -> float:
        """Microseconds of one core per image, with reuse."""
        kept_us = _KEPT_US + _KEPT_US_PER_BYTE * self.image_bytes
        first_us = (1 - self.found) * (self.costs.first_us + kept_us)
        found_us = self.found * _FOUND_US_PER_BYTE * self.image_bytes
        runs_us = self._further_runs * _RUN_US / self.part_images
        return first_us + found_us + self.costs.rest_us + runs_us + self._part_us

    @property
    def _part_us(self) -> float:
        return _PART_US * max(0.0, 1 / self.part_images - 1 / _FULL_PART)

    @property
    def _further_runs(self) -> float:
        """Runs of a part through the core beyond the one that it takes without reuse."""
        if isinstance(self.asked, Echo):  # a window is computed, then found: hardly ever mixed
            return 1 - self.found
        any_found = 1 - float((1 - self.found) ** self.part_images)
        any_computed = 1 - float(self.found**self.part_images)
        return any_found + 2 * any_computed - 1

    @property
    def speedup(self) -> float:
        """How many times as many images a core finishes."""
        return self.plain_us / self.reused_us

    @property
    def pays(self) -> bool:
        """Whether the gain is worth having."""
        return self.speedup >= _WORTH

    @property
    def new_share(self) -> float:
        """The share of an epoch's images whose first part was never seen before, in the long run.

        A first part that draws nothing is not seen more often than without reuse.
        """
        return 1.0 if self.cut.fixed else 1 / self.asked.times

    def lines(self) -> list[str]:
        """All of it in words, and what speaks against it."""
        return [
            f"reuse: {self.asked!r} keeps images after {self.cut.after}, {self.cut.why}",
            f"  speed: {self._speed()}",
            f"  memory: {self._memory()}",
            f"  diversity: {self._diversity()}",
            *([] if self.pays else [f"  it does not pay: {self._no_gain()}"]),
        ]

    def _no_gain(self) -> str:
        costs = self.costs
        first_share = costs.first_us / max(costs.first_us + costs.rest_us, 1e-9)
        saved_us = self.found * costs.first_us
        added_us = self.reused_us + saved_us - self.plain_us
        text = (
            f"{saved_us:,.0f} us of first parts are saved per image, and {added_us:,.0f} us are "
            "added by keeping images and by doing the two parts apart"
        )
        if first_share < 0.5:
            return f"{text}. Most of the work ({1 - first_share:.0%}) is in the last part."
        if self.fits < 0.5:
            return f"{text}. Only {self.fits:.0%} of the images fit into memory."
        return f"{text}. The first part is too cheap, as it mostly is with packed files."

    def _speed(self) -> str:
        costs = self.costs
        return (
            f"{self.plain_us:,.0f} us per image without, {self.reused_us:,.0f} us with "
            f"({self.speedup:.2f}x), as predicted for one core; the first part takes "
            f"{costs.first_us:,.0f} us and is computed for {1 - self.found:.0%} of the images"
        )

    def _memory(self) -> str:
        kept = self.asked.kept_samples(self.samples, fixed=self.cut.fixed)
        text = (
            f"{kept:,} images of {_size(self.image_bytes)} need {_size(self.needed_bytes)}, "
            f"{_size(self.asked.memory_bytes)} may be used"
        )
        if self.fits < 1:
            text += (
                f": {self.fits:.0%} fit, and the first part of the others is computed in every "
                f"use. memory='{_size(self.needed_bytes * 1.02)}' holds all"
            )
        return text

    def _diversity(self) -> str:
        times = self.asked.times
        if self.cut.fixed:
            return "the first part draws nothing, so that keeping it costs none"
        new = round(self.samples * (1 if isinstance(self.asked, Echo) else self.new_share))
        images = self.samples * (times if isinstance(self.asked, Echo) else 1)
        text = (
            f"{new:,} of the {images:,} images of an epoch have a new first part "
            f"({self.new_share:.0%}; all of them without reuse)"
        )
        differ = f"{self.cut.finishes:.1f} of {times} uses of it differ in the last part"
        if self.cut.finishes < _MOSTLY * times:
            differ = f"only {differ}: draw more there, or use images less often"
        return f"{text}; {differ}"


def _size(size_bytes: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes:.0f} B"
