"""What an analysis found, as plain records: for the report, the terminal and JSON alike.

Rates are images per second. Shares lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from statistics import median
from typing import Any


class Verdict(Enum):
    """What holds a training up."""

    ACCELERATOR = "accelerator-bound"
    STEP = "step-bound"  # a step that computes on the processor's own cores
    SHARED_CORES = "short of cores"  # loading and the step compete for them
    DECODE = "decode-bound"
    AUGMENT = "augment-bound"
    OWN_CODE = "held up by the data set's own code"
    READ = "read-bound"
    TRANSFER = "transfer-bound"
    WORKERS = "starved by worker count"
    TOO_MANY_WORKERS = "too many workers"
    COLLATE = "collate-bound"
    INTERPRETER = "held by the interpreter lock"
    START_UP = "start-up-bound"
    INPUT = "input-bound"  # seen from outside, where the slow part cannot be named
    NONE = "no verdict"


@dataclass(frozen=True, slots=True)
class Rate:
    """Images per second: the median, and the least and largest seen."""

    median: float
    least: float
    largest: float

    @staticmethod
    def of(*rates: float) -> Rate:
        """Return the rate of some runs; a single one, as a predicted rate is, has no spread."""
        return Rate(median(rates), min(rates), max(rates))


@dataclass(frozen=True, slots=True)
class CoreRate:
    """What comes out on some cores; predicted ones have no spread."""

    cores: int
    rate: Rate
    is_measured: bool


@dataclass(frozen=True, slots=True)
class LayerRate:
    """What comes out with this many layers of RandAugment."""

    layers: int
    pipeline: Rate
    end_to_end: Rate
    is_measured: bool


@dataclass(frozen=True, slots=True)
class OpCost:
    """What one op costs per image: its CPU time, and the time it sleeps, as reading does."""

    name: str
    microseconds: float
    share: float  # of all ops
    runs_in: str  # "core", "Pillow", "torch", "Python", ...
    note: str = ""


@dataclass(frozen=True, slots=True)
class StoreReading:
    """What a loader asked of a store while it ran alone, and how fast the store answered."""

    address: str
    reads: str  # what a request is for: "records", "blocks" or "rows"
    reasons: tuple[str, ...]  # why
    images_per_s: float
    waiting_us: float  # of the loader's threads, per image: for data, or on requests
    latency_ms: float | None  # of a small request
    megabytes_per_s: float | None  # of one request, once it flows
    requests_per_batch: float
    bytes_per_batch: float
    least_bytes_per_batch: float  # each record once, as a whole
    hits: float | None = None  # share of blocks that the cache had; None without one
    retries: int = 0
    warm_images_per_s: float | None = None  # of some samples, with a cache that has them all


@dataclass(frozen=True, slots=True)
class Prediction:
    """A rate that was predicted, beside the measured one if it could be checked."""

    what: str
    predicted: float
    measured: float | None = None

    @property
    def error(self) -> float | None:
        """Share by which the prediction was off; None if nothing was measured, or nothing came."""
        if not self.measured:
            return None
        return abs(self.predicted - self.measured) / self.measured


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A change whose effect was predicted, not tried."""

    change: str
    rate: float  # end to end
    gain: float  # over what is there now: 1.0 is no change
    pipeline: float | None = None  # the loader alone with it, if that was measured
    note: str = ""  # what else it changes
    line: str = ""  # the code to write, where it follows from the user's own


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, with the line to write."""

    title: str
    gain: float | None  # predicted, end to end: 1.0 is no change; None if it is not known
    line: str
    why: str

    @property
    def rank(self) -> float:
        """The gain, to sort by; what has none comes after what gains anything."""
        return 1.0 if self.gain is None else self.gain


@dataclass(frozen=True, slots=True)
class Utilisation:
    """How busy the accelerator was, over time."""

    source: str  # "NVML", "emulated device", ...
    seconds: tuple[float, ...]
    busy: tuple[float, ...]  # shares of the intervals that end at `seconds`


@dataclass(frozen=True, slots=True)
class Steps:
    """What the training loop spent each step on, in seconds."""

    waited: tuple[float, ...]
    computed: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FirstEpoch:
    """An epoch end to end with files that the system has forgotten, and one just after it.

    Both with everything that starting takes, so `cached` is below the rate of a long training.
    """

    cold: Rate
    cached: Rate

    def lost(self, synthetic: float) -> dict[str, float]:
        """Return the shares of the accelerator's time lost to fetching and to preparing."""
        fetch = max(0.0, self.cached.median - self.cold.median)
        prepare = max(0.0, synthetic - max(self.cached.median, self.cold.median))
        return {"fetch": fetch / synthetic, "prepare": prepare / synthetic}


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that was found."""

    title: str  # what was analysed, in the user's words
    created: str  # ISO 8601
    environment: Mapping[str, str]
    device: str
    is_emulated: bool
    batch_size: int
    images: int  # in the data set
    verdict: Verdict
    sentence: str
    evidence: tuple[str, ...]
    synthetic: Rate | None = None  # the step alone, on a batch that stays in memory
    fresh: Rate | None = None  # the step alone, on a new random batch each time
    pipeline: tuple[CoreRate, ...] = ()
    end_to_end: tuple[CoreRate, ...] = ()
    stall: float | None = None  # share of the accelerator's time that is lost
    stall_parts: Mapping[str, float] = field(default_factory=dict)  # fetch, prepare, transfer
    first_epoch: FirstEpoch | None = None
    ops: tuple[OpCost, ...] = ()
    layers: tuple[LayerRate, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    what_ifs: tuple[WhatIf, ...] = ()
    advice: tuple[Advice, ...] = ()
    utilisation: Utilisation | None = None
    steps: Steps | None = None
    slowest_files: tuple[tuple[str, float], ...] = ()  # name, milliseconds
    assumption: str = ""  # on which rates of training rest, as "if your accelerator took ..."
    banner: str = ""  # why these figures are doubtful; nothing is concluded from them then
    left_out: tuple[str, ...] = ()  # what was not measured for lack of time
    store: StoreReading | None = None  # where the data is in one

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON knows."""
        return asdict(self) | {"verdict": self.verdict.value}
