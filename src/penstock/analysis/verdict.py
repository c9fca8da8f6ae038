"""The verdict: one sentence on what holds a training up, and the measurements that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.analysis.device.devices import Device, EmulatedDevice
from penstock.analysis.measure import RunsByCores, StepAlone, rate_of
from penstock.analysis.subject.subject import Subject, WorkerKind
from penstock.costs.costs import Cost, Costs, Kind
from penstock.results.records import StoreReading, Verdict
from penstock.watching.loader_facts import count_images

LEAST_BATCHES = 8  # with fewer, a single late batch would decide
_FED = 0.1  # a smaller loss is within what two runs of the same training differ by
_AMPLE = 2.0  # times as fast as the step: then most of the cores' time is the step's
_PLENTY = 1.5  # times as fast as the step: then the pipeline itself cannot be what is waited for
_MOST_OF_IT = 0.5  # more than all other causes together
# More than the best of three rounds differ on a machine that does other work too.
_GAIN_THAT_COUNTS = 1.15
# Workers compute at most a share of the time, so one too few of many is no cause.
_SCALING_THAT_COUNTS = 1.3
# Functions that let go of the lock show next to nothing, those that keep it a half and more.
_LOCKED = 0.25

_BY_KIND: dict[Kind, Verdict] = {
    "read": Verdict.READ,
    "decode": Verdict.DECODE,
    "own": Verdict.OWN_CODE,
    "augment": Verdict.AUGMENT,
    "collate": Verdict.COLLATE,
}


@dataclass(frozen=True, slots=True)
class Measurements:
    """What was measured, as far as a verdict needs it: images per second, on all cores."""

    batches: int  # measured end to end
    synthetic: float
    pipeline: float
    end_to_end: float
    cores: int
    workers: int
    worker_kind: WorkerKind
    costs: Costs | None = None
    other_workers: int | None = None  # another number of workers that was tried
    other_pipeline: float | None = None  # what the pipeline does with them
    other_gain: float | None = None  # over its own workers, between the rounds disturbed least
    other_spread: float = 1.0  # the fastest round over the slowest, of either number of workers
    start_up_s: float = 0.0  # of an epoch, beyond the work on its batches
    epoch_s: float | None = None  # measured, if epochs are short
    copy_s: float = 0.0  # per image, from the host to the device
    step_cores: float = 0.0  # that the training step keeps busy
    computes_here: bool = False  # whether the step and the pipeline share the cores
    emulated_rate: float | None = None  # of an accelerator that was assumed, not measured
    # Times as fast with a loader that costs nothing: the least and the most between rounds; None
    # if there was only one round.
    instant_between: tuple[float, float] | None = None
    keeps_workers: bool = False  # from one epoch to the next

    @property
    def stall(self) -> float:
        """Share of the accelerator's time that is lost."""
        return max(0.0, 1 - self.end_to_end / self.synthetic)

    @property
    def assumption(self) -> str:
        """What rates of training rest on, where no accelerator was measured; else nothing."""
        if self.emulated_rate is None:
            return ""
        return f"if your accelerator took {self.emulated_rate:,.0f} images/s"


def gather_measurements(
    subject: Subject, device: Device, alone: StepAlone, measured: RunsByCores, seconds: float
) -> Measurements:
    """Measure for some seconds what an image costs, and add the rates on all cores."""
    cores = max(measured.pipeline)
    costs = subject.costs(seconds)
    runs = measured.end_to_end[cores]
    images = count_images(alone.batch)
    first_work_s = 0.0 if costs is None else images * costs.total_s
    start_up_s = min(run.start_up_s for run in runs)
    short = [run.epoch_s for run in runs if run.is_short and run.epoch_s is not None]
    own, other = rate_of(measured.pipeline[cores]), None
    if measured.other_workers:
        other = rate_of(measured.other_workers)
    together = rate_of(runs)
    between = (alone.rate.least / together.largest, alone.rate.largest / together.least)
    copy = getattr(device, "seconds_to_copy", None)
    return Measurements(
        batches=sum(run.batches for run in runs),
        synthetic=alone.rate.median,
        pipeline=own.median,
        end_to_end=together.median,
        cores=cores,
        workers=subject.workers,
        worker_kind=subject.worker_kind,
        costs=costs,
        other_workers=cores if other else None,
        other_pipeline=other.median if other else None,
        other_gain=other.largest / own.largest if other else None,
        other_spread=max(rate.largest / rate.least for rate in (own, other or own)),
        start_up_s=max(0.0, start_up_s - first_work_s),
        epoch_s=min(short, default=None),
        copy_s=copy(alone.batch) / images if copy is not None else 0.0,
        step_cores=alone.cores,
        computes_here=alone.computes_here,
        emulated_rate=device.images_per_s if isinstance(device, EmulatedDevice) else None,
        instant_between=between if len(runs) > 1 else None,
        keeps_workers=subject.keeps_workers,
    )


def split_stall(facts: Measurements) -> dict[str, float]:
    """Split the stall by what the pipeline spends its time on."""
    if facts.costs is None:
        return {}
    seconds = {
        "fetch": facts.costs.of("read"),
        "prepare": facts.costs.cpu_s,
        "transfer": facts.copy_s,
    }
    total_s = sum(seconds.values()) or 1.0
    return {name: facts.stall * part / total_s for name, part in seconds.items()}


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, the sentence that states it, and the evidence."""

    verdict: Verdict
    sentence: str
    evidence: tuple[str, ...]


def judge(facts: Measurements) -> Finding:
    """Say what holds the training up."""
    verdict, sentence = _judge(facts)
    return Finding(verdict, sentence[0].upper() + sentence[1:], _evidence(facts))


def many_cores(cores: int) -> str:
    """Return a number of cores in words."""
    return "1 core" if cores == 1 else f"{cores:,} cores"


def _judge(facts: Measurements) -> tuple[Verdict, str]:
    if facts.batches < LEAST_BATCHES:
        return Verdict.NONE, (
            f"No verdict: {facts.batches} batches measured, {LEAST_BATCHES} needed. Measure for "
            "longer (--seconds), or make batches smaller."
        )
    if facts.computes_here and (facts.stall <= _FED or facts.pipeline > _AMPLE * facts.synthetic):
        return Verdict.ACCELERATOR, (
            f"the training step is the limit: it computes on {facts.step_cores:.1f} of the "
            f"{many_cores(facts.cores)} itself. Loading shares them with it: "
            f"{_instant(facts)}."
        )
    if facts.stall <= _FED:
        return Verdict.ACCELERATOR, _fed(facts)
    too_many = _too_many_workers(facts)
    waits = _waits(facts)
    if too_many is not None:
        return Verdict.TOO_MANY_WORKERS, f"too many workers: {too_many}; {waits}."
    if facts.epoch_s is not None and facts.start_up_s > _MOST_OF_IT * facts.epoch_s:
        return Verdict.START_UP, (
            f"starting up is the limit: {facts.start_up_s:.2f} of the {facts.epoch_s:.2f} seconds "
            f"of an epoch go into starting and ending it; {waits}."
        )
    if facts.copy_s * facts.synthetic > _MOST_OF_IT:
        return Verdict.TRANSFER, (
            f"copying batches to the device is the limit: {facts.copy_s * 1e6:,.0f} µs per image, "
            f"where the whole step takes {1e6 / facts.synthetic:,.0f}; {waits}."
        )
    if facts.costs is None or facts.costs.total_s <= 0:
        return Verdict.NONE, (
            f"No verdict on the cause: {waits}, but what the loader does inside cannot be seen."
        )
    if not facts.computes_here and facts.pipeline > _PLENTY * facts.synthetic:
        return Verdict.NONE, (
            f"No verdict on the cause: {waits}, though the input pipeline alone gives "
            f"{facts.pipeline:,.0f} images/s, {facts.pipeline / facts.synthetic:.1f} times what "
            "the step takes. Other programs, or a run that was too short, may have caused it: "
            "measure for longer (--seconds) on a machine that does nothing else."
        )
    return _judge_costs(facts, facts.costs, waits)


def _fed(facts: Measurements) -> str:
    fed = (
        f"the input pipeline alone gives {facts.pipeline:,.0f} images/s, "
        f"{facts.pipeline / facts.synthetic:.1f} times that"
    )
    if facts.assumption:
        busy = f"it would be the limit, and busy {1 - facts.stall:.0%} of the time"
        return f"{facts.assumption}, {busy}: {fed}."
    return (
        f"the accelerator is the limit: it is busy {1 - facts.stall:.0%} of the time. It takes "
        f"{facts.synthetic:,.0f} images/s; {fed}."
    )


def _waits(facts: Measurements) -> str:
    """Return what the accelerator loses, and on which condition."""
    if facts.computes_here:
        return (
            f"the training step computes on the same cores, and is {facts.stall:.0%} slower than "
            f"alone: {_instant(facts)}"
        )
    if facts.assumption:
        return f"{facts.assumption}, it would wait {facts.stall:.0%} of its time"
    return f"the accelerator waits {facts.stall:.0%} of its time"


def _instant(facts: Measurements) -> str:
    """Say what a cheaper loader would bring to a step that shares its cores, and how surely."""
    gain = max(1.0, facts.synthetic / facts.end_to_end)
    said = f"a loader that cost nothing would make training {gain:.2f} times as fast"
    if facts.instant_between is None:
        return f"{said} (measured once, so take it as rough)"
    least, most = facts.instant_between
    return f"{said} (between {max(1.0, least):.2f} and {max(1.0, most):.2f} from round to round)"


def _judge_costs(facts: Measurements, costs: Costs, waits: str) -> tuple[Verdict, str]:
    waiting = costs.of("read") / costs.total_s
    if waiting > _MOST_OF_IT or costs.longest.kind == "read":
        where = "" if costs.store is None else f" from the store ({_answers(costs.store)})"
        return Verdict.READ, (
            f"reading{where} is the limit: {waiting:.0%} of an image's "
            f"{costs.total_s * 1e6:,.0f} µs pass waiting for data; {waits}."
        )
    locked = facts.worker_kind == "threads" and costs.lock_share > _LOCKED
    if locked and facts.cores > 1 and costs.python_s > _MOST_OF_IT * costs.cpu_s:
        name = max(
            (part for part in costs.parts if part.runs_in == "Python"), key=lambda p: p.seconds
        ).name
        return Verdict.INTERPRETER, (
            f"the interpreter lock is the limit: {name} is Python, of which one thread at a time "
            f"can run, and takes {costs.python_s / costs.cpu_s:.0%} of the work; {waits}."
        )
    if _has_too_few_workers(facts):
        return Verdict.WORKERS, f"{_too_few_workers(facts)}; {waits}."
    longest = costs.longest
    return _BY_KIND[longest.kind], f"{_about_longest(longest, costs)}; {waits}."


def _answers(store: StoreReading) -> str:
    """Say in a few words how fast a store is, and what a batch asks of it."""
    told = []
    if store.latency_ms is not None:
        told.append(f"an answer takes {_digits(store.latency_ms)} ms")
    if store.megabytes_per_s is not None:
        told.append(f"one request brings {_digits(store.megabytes_per_s)} MB/s")
    told.append(
        f"a batch takes {_digits(store.requests_per_batch)} requests and "
        f"{_digits(store.bytes_per_batch / 1e6)} MB"
    )
    return ", ".join(told)


def _digits(value: float) -> str:
    """Return three digits of a figure, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _about_store(store: StoreReading) -> Iterator[str]:
    """Yield what was seen of a store."""
    yield f"{store.address}: {_answers(store)}"
    yield from store.reasons
    more = "" if store.hits is None else f"; the cache had {store.hits:.0%} of the blocks"
    again = f"; {store.retries:,} requests were tried again" if store.retries else ""
    least = _digits(store.least_bytes_per_batch / 1e6)
    yield f"the records of a batch are {least} MB{more}{again}"
    if store.warm_images_per_s is not None:
        yield f"some of its samples from a warm cache: {store.warm_images_per_s:,.0f} images/s"


def _about_longest(part: Cost, costs: Costs) -> str:
    """Name the longest bar, and what all of its kind take together where that is more."""
    share = part.seconds / costs.cpu_s
    of_work = f"{share:.0%} of an image's {costs.cpu_s * 1e6:,.0f} µs of work"
    name = {
        "decode": "decoding" if part.name == "decode" else f"decoding ({part.name})",
        "own": "the data set's own code (__getitem__ without decoders and transforms)",
        "collate": "putting batches together",
        "augment": part.name,
    }[part.kind]
    together = costs.of("augment")
    others = ""
    if together > (part.seconds if part.kind == "augment" else 0) * 1.05:
        others = f" (all transforms together: {together / costs.cpu_s:.0%})"
    if part.kind == "augment" and together > _MOST_OF_IT * costs.cpu_s:
        return f"the transforms are the limit, most of all {name}: {of_work}{others}"
    if share > _MOST_OF_IT:
        return f"{name} is the limit: {of_work}{others}"
    return f"preparing images is the limit, and {name} the longest part of it: {of_work}{others}"


def _has_too_few_workers(facts: Measurements) -> bool:
    """Tell whether cores are idle that more workers would use: measured, where that was done."""
    computing = max(1, facts.workers)  # without workers, the training process itself
    if facts.cores / computing < _SCALING_THAT_COUNTS:
        return False
    if facts.other_gain is None or facts.other_gain >= _GAIN_THAT_COUNTS:
        return True
    # Rounds that differ by more than the gain looked for say nothing against it.
    return facts.other_spread >= _GAIN_THAT_COUNTS


def _too_few_workers(facts: Measurements) -> str:
    kind = "thread" if facts.worker_kind == "threads" else "worker"
    cores = many_cores(facts.cores)
    if facts.workers == 0:
        said = f"no {kind}s: images are loaded in the training process itself, on 1 of {cores}"
    else:
        said = f"too few {kind}s: {facts.workers} for {cores}"
    if facts.other_gain is not None and facts.other_gain < _GAIN_THAT_COUNTS:
        said += f" (what {facts.cores} would bring could not be measured: rounds differ too much)"
    return said


def _too_many_workers(facts: Measurements) -> str | None:
    gain = facts.other_gain
    if gain is None or facts.workers <= facts.cores:
        return None
    # Rounds that differ by more than the gain say nothing for it.
    if gain < max(_GAIN_THAT_COUNTS, facts.other_spread):
        return None
    return (
        f"{facts.workers} on {many_cores(facts.cores)} get in each other's way, and "
        f"{facts.other_workers} deliver {gain:.1f} times as much"
    )


def _evidence(facts: Measurements) -> tuple[str, ...]:
    step = f"the step alone: {facts.synthetic:,.0f} images/s"
    if facts.emulated_rate is not None:
        step = f"the accelerator: {facts.synthetic:,.0f} images/s, assumed, not measured"
    lines = [
        step,
        f"the pipeline alone on {many_cores(facts.cores)}: {facts.pipeline:,.0f} images/s",
        f"together: {facts.end_to_end:,.0f} images/s, over {facts.batches} batches",
    ]
    if facts.costs is not None:
        parts = sorted(facts.costs.parts, key=lambda part: -part.seconds)[:3]
        lines += [f"{part.name}: {part.seconds * 1e6:,.0f} µs per image" for part in parts]
    if facts.costs is not None and facts.costs.store is not None:
        lines += _about_store(facts.costs.store)
    if facts.other_pipeline is not None:
        lines.append(
            f"the pipeline with {facts.other_workers} instead of {facts.workers} workers: "
            f"{facts.other_pipeline:,.0f} images/s"
        )
    if facts.epoch_s is not None:
        lines.append(
            f"an epoch takes {facts.epoch_s:.2g} s, of which {facts.start_up_s:.2g} s to start up"
        )
    return tuple(lines)
