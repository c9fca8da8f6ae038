"""What was measured, and what is predicted from it for numbers of cores that were not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from penstock.analysis.rate_model import (
    FED,
    CoreModel,
    Point,
    cores_needed,
    fit_cores,
    fit_overlap,
    predict,
)
from penstock.errors import AnalysisError
from penstock.experiments.experiment import reason_missing
from penstock.experiments.journal import Journal
from penstock.experiments.overhead.settings import Pipeline, Settings
from penstock.experiments.overhead.targets import Target
from penstock.results.records import Rate

OTHERS = "others"  # in a measurement: the share of its cores that other programs used
MOST_CORES = 128  # that are looked at when asked how many are needed


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate, and whether it was measured or predicted."""

    rate: Rate
    is_measured: bool = True

    @property
    def median(self) -> float:
        """Images per second."""
        return self.rate.median


class Results:
    """The journal's measurements, by what they are of."""

    def __init__(self, journal: Journal) -> None:
        told = journal.settings
        try:
            self.settings = Settings.from_dict(told)
            self.targets = [Target.from_dict(one) for one in told["targets"]]
            self.photos: Mapping[str, Any] = told["photos"]
        except (KeyError, TypeError) as error:
            raise AnalysisError(
                f"results: settings that this version does not read ({error}). Measure again with "
                "--fresh, or draw them with the version that measured them."
            ) from error
        self.missing: dict[str, str] = {}  # why, by what is missing
        self.others: list[float] = []  # shares of the cores that other programs used
        self.decoded: list[Mapping[str, Any]] = []
        self.augmented: Mapping[str, Any] | None = None
        self._alone: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        self._both: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
        self._steps: dict[tuple[str, str], list[float]] = defaultdict(list)
        for key, value in journal.measurements.items():
            self._read(key, value)

    def _read(self, key: str, value: Any) -> None:
        kind, _, rest = key.partition("/")
        why = reason_missing(value)
        if isinstance(value, dict) and OTHERS in value:
            self.others.append(value[OTHERS])
        if kind == "cache":
            self._read_cache(rest, value, why)
            return
        _, _, what = rest.partition("/")  # the round comes first
        if kind in {"step", "fresh"}:
            if why is not None:
                self.missing[what] = why
                return
            for name, number in value.items():
                self._steps[what, name].append(number)
            return
        loader, cores, pipeline = what.split("/", 3)[:3]
        if why is not None:
            self.missing.setdefault(loader if "import" in why else f"{loader}, {pipeline}", why)
            return
        if "pipeline" in value:
            self._alone[loader, pipeline, int(cores)].append(value["pipeline"])
        for target, rate in value["end_to_end"].items():
            self._both[target, loader, pipeline, int(cores)].append(rate)

    def _read_cache(self, what: str, value: Any, why: str | None) -> None:
        if why is not None:
            self.missing["caches"] = why
        elif what == "augmented":
            self.augmented = value
        else:
            self.decoded.append(value)

    @property
    def fast_targets(self) -> list[Target]:
        """Accelerators beside the processor, real or emulated."""
        return [one for one in self.targets if not one.computes_here and self.synthetic(one)]

    @property
    def groups(self) -> list[str]:
        """The accelerators of `fast_targets`; the first is the main one."""
        return list(dict.fromkeys(target.group for target in self.fast_targets))

    @property
    def cores(self) -> list[int]:
        """All numbers of cores, measured and predicted."""
        return sorted({*self.settings.cores, *self.settings.measured_cores})

    @property
    def loaders(self) -> list[str]:
        """The loaders of which something was measured."""
        seen = {loader for loader, _, _ in self._alone}
        return [loader for loader in self.settings.loaders if loader in seen]

    def synthetic(self, target: Target) -> float:
        """Return the rate of the step on a batch that stays; 0 if it was not measured."""
        return median(self._steps.get((target.key, "resident"), [0.0]))

    def fresh(self, target: Target) -> float | None:
        """Return the rate of the step on a fresh random tensor each time."""
        rates = self._steps.get((target.key, "fresh"))
        return None if rates is None else median(rates)

    def pipeline(self, loader: str, pipeline: Pipeline, cores: int) -> Figure | None:
        """Return the rate of a loader alone."""
        rates = self._alone.get((loader, pipeline.key, cores))
        if rates:
            return Figure(Rate.of(*rates))
        model = self._core_model(loader, pipeline)
        return None if model is None else Figure(Rate.of(model.rate(cores)), is_measured=False)

    def end_to_end(
        self, target: Target, loader: str, pipeline: Pipeline, cores: int
    ) -> Figure | None:
        """Return the rate of training; of a step on these very cores only if it was measured."""
        rates = self._both.get((target.key, loader, pipeline.key, cores))
        if rates:
            return Figure(Rate.of(*rates))
        model = self._core_model(loader, pipeline)
        if model is None or target.computes_here or not self.synthetic(target):
            return None
        point = Point(self.synthetic(target), model.rate(cores), cores, self._cpu_s(target))
        rate = predict(point, self._overlap(target, loader, pipeline))
        return Figure(Rate.of(rate), is_measured=False)

    def measured(
        self, target: Target, loader: str, pipeline: Pipeline, cores: int
    ) -> Figure | None:
        """Return the rate of training if it was measured."""
        found = self.end_to_end(target, loader, pipeline, cores)
        return found if found is not None and found.is_measured else None

    def stall(self, target: Target, loader: str, pipeline: Pipeline, cores: int) -> float | None:
        """Return the share of the accelerator's rate that is lost, if it was measured."""
        found = self.measured(target, loader, pipeline, cores)
        return None if found is None else max(0.0, 1 - found.median / self.synthetic(target))

    def is_fed(self, target: Target, loader: str, pipeline: Pipeline, cores: int) -> bool | None:
        """Tell whether the accelerator gets nearly all it could take; None if not measured."""
        stall = self.stall(target, loader, pipeline, cores)
        return None if stall is None else stall <= 1 - FED

    def cores_needed(self, target: Target, loader: str, pipeline: Pipeline) -> int | None:
        """Return the fewest cores that feed an accelerator, measured or predicted."""
        for cores in self.settings.measured_cores:
            if self.is_fed(target, loader, pipeline, cores):
                return cores
        model = self._core_model(loader, pipeline)
        if model is None:
            return None
        overlap = self._overlap(target, loader, pipeline)
        needed = cores_needed(
            self.synthetic(target), model, self._cpu_s(target), overlap, MOST_CORES
        )
        # What was measured to be too few is too few, whatever the model says.
        too_few = [
            cores
            for cores in self.settings.measured_cores
            if self.is_fed(target, loader, pipeline, cores) is False
        ]
        return None if needed is None else max(needed, 1 + max(too_few, default=0))

    def layers_borne(self, target: Target, loader: str, cores: int) -> int | None:
        """Return the most layers with which the accelerator is still fed; None if not even 0."""
        borne = None
        for pipeline in self.settings.layered:
            if not self.is_fed(target, loader, pipeline, cores):
                break
            borne = pipeline.layers
        return borne

    def _core_model(self, loader: str, pipeline: Pipeline) -> CoreModel | None:
        rates = {
            cores: self._alone[loader, pipeline.key, cores]
            for cores in self.settings.measured_cores
            if self._alone.get((loader, pipeline.key, cores))
        }
        if not rates:
            return None
        # How a pipeline scales shows best in the rounds that nobody else disturbed.
        best = {cores: max(some) for cores, some in rates.items()}
        most = max(rates)
        return fit_cores(best).through(most, median(rates[most]))

    def _overlap(self, target: Target, loader: str, pipeline: Pipeline) -> float:
        points = []
        for cores in self.settings.measured_cores:
            both = self._both.get((target.key, loader, pipeline.key, cores))
            alone = self._alone.get((loader, pipeline.key, cores))
            if both and alone:
                point = Point(
                    self.synthetic(target),
                    median(alone),
                    cores,
                    self._cpu_s(target),
                    median(both),
                )
                points.append(point)
        return fit_overlap(points)

    def _cpu_s(self, target: Target) -> float:
        return median(self._steps.get((target.key, "cpu_s"), [0.0]))
