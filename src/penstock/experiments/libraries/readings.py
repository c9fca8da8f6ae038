"""What was measured, read from the journal: medians with their spread, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from penstock.experiments.experiment import reason_missing
from penstock.experiments.journal import Journal
from penstock.experiments.libraries.detector.training import EMULATED_KEY, rate_key, real_key
from penstock.experiments.libraries.work import (
    Chain,
    Photos,
    Settings,
    chain_key,
    ops_key,
    pixels_key,
)

STUDIED = ("Pillow", "OpenCV", "NumPy")  # the libraries that the study compared


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the least and the largest value beside it."""

    median: float
    least: float
    largest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Sum up one value per iteration."""
        return cls(median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{told(self.median)} ({told(self.least)}-{told(self.largest)})"


def told(value: float) -> str:
    """Return a figure with as many digits as it deserves."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


@dataclass(frozen=True, slots=True)
class Readings:
    """The journal of this experiment, complete or not."""

    journal: Journal

    @property
    def settings(self) -> Settings:
        """What it was told."""
        return Settings.from_dict(self.journal.settings)

    def ops(self, photos: Photos) -> dict[str, dict[str, tuple[Spread, Spread]]]:
        """Return loading, and loading with the operation: in ms, by library and operation."""
        rounds = self._rounds(ops_key(photos, number) for number in self.settings.rounds_of(photos))
        if not rounds:
            return {}
        return {
            name: {
                op: (
                    Spread.of([one[name][op][0] for one in rounds]),
                    Spread.of([one[name][op][1] for one in rounds]),
                )
                for op in ops
            }
            for name, ops in rounds[0].items()
        }

    def chain(self, photos: Photos, chain: Chain) -> dict[str, list[Spread]]:
        """Return ms after each step by library; only the last one of some of our plans."""
        rounds = self._rounds(
            chain_key(photos, chain, number) for number in self.settings.rounds_of(photos)
        )
        if not rounds:
            return {}
        return {
            name: [Spread.of(values) for values in zip(*(one[name] for one in rounds), strict=True)]
            for name in rounds[0]
        }

    def ratios(self, photos: Photos, slow: Chain, fast: Chain, name: str) -> Spread | None:
        """Return how many times as long one chain takes as another, iteration by iteration."""
        pairs = [
            (
                self._found(chain_key(photos, slow, number)),
                self._found(chain_key(photos, fast, number)),
            )
            for number in self.settings.rounds_of(photos)
        ]
        values = [one[name][-1] / other[name][-1] for one, other in pairs if one and other]
        return Spread.of(values) if values else None

    def pixels(self, photos: Photos) -> dict[str, dict[str, list[float]]]:
        """Return the mean and largest difference to Pillow, by library and work."""
        return self._found(pixels_key(photos)) or {}

    def loading(self) -> dict[tuple[str, int], Spread]:
        """Return images per second of loading alone, by loader and cores."""
        settings, found = self.settings, {}
        for cores in settings.cores:
            rounds = self._rounds(rate_key(cores, number) for number in range(settings.rounds))
            for name in rounds[0] if rounds else ():
                found[name, cores] = Spread.of([one[name] for one in rounds])
        return found

    def emulated(self) -> dict[str, Any]:
        """Return the emulated accelerator's rate, and the runs with it; empty if it is missing."""
        return self._found(EMULATED_KEY) or {}

    def real(self, loaders: Sequence[str]) -> list[dict[str, Any]]:
        """Return the runs that trained on the CPU."""
        runs = [self._found(real_key(name)) for name in loaders]
        return [run for run in runs if run]

    def missing(self) -> Iterator[str]:
        """Yield what was not measured yet, and why other measurements are missing: each once."""
        for photos in self.settings.sizes:
            if not self.ops(photos):
                yield f"{photos.name}: not measured yet, so no claim takes it into account"
        reasons: dict[str, str] = {}
        for key, value in self.journal.measurements.items():
            reason = reason_missing(value)
            if reason is not None:
                reasons.setdefault(reason, key)
        for reason, key in reasons.items():
            yield f"{key}: not measured: {reason}"

    def found(self, key: str) -> Any:
        """Return a measurement; None if it is missing."""
        return self._found(key)

    def _found(self, key: str) -> Any:
        value = self.journal.measurements.get(key)
        return None if reason_missing(value) is not None else value

    def _rounds(self, keys: Iterator[str]) -> list[Any]:
        return [value for key in keys if (value := self._found(key)) is not None]
