"""One sentence on what holds a training up, from measured facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.analysis.costs import Costs
from penstock.analysis.facts import Facts
from penstock.analysis.results import Verdict

LEAST_BATCHES = 8  # with fewer, one that is late decides
_FED = 0.1  # a smaller loss is within what two runs of the same training differ by
_AMPLE = 2.0  # times as fast as the step: then most of the cores' time is the step's
_MOST_OF_IT = 0.5  # more than all other causes together
# More than the best of three rounds differ on a machine that does other work too.
_GAIN_THAT_COUNTS = 1.15
# Workers compute at most a share of the time, so one too few of many is no cause.
_SCALING_THAT_COUNTS = 1.3
# Functions that let go of the lock show next to nothing, those that keep it a half and more.
_LOCKED = 0.25


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, what to tell, and why."""

    verdict: Verdict
    sentence: str
    evidence: tuple[str, ...]


def judge(facts: Facts) -> Finding:
    """Say what holds the training up."""
    verdict, sentence = _judge(facts)
    return Finding(verdict, sentence, _evidence(facts))


def _judge(facts: Facts) -> tuple[Verdict, str]:
    stall = f"the accelerator waits {facts.stall:.0%} of its time"
    if facts.batches < LEAST_BATCHES:
        return Verdict.NONE, (
            f"No verdict: {facts.batches} batches measured, {LEAST_BATCHES} needed. Measure for "
            "longer, or make batches smaller."
        )
    if facts.stall <= _FED:
        return Verdict.ACCELERATOR, (
            f"The accelerator is the limit: it is busy {1 - facts.stall:.0%} of the time, and the "
            f"input pipeline could feed {facts.pipeline / facts.synthetic:.1f} of it."
        )
    if facts.computes_here and facts.pipeline > _AMPLE * facts.synthetic:
        return Verdict.ACCELERATOR, (
            f"The training step is the limit: it computes on {facts.step_cores:.1f} of the "
            f"{facts.cores} cores itself, and leaves them {facts.stall:.0%} of the time to an "
            f"input pipeline that alone could feed {facts.pipeline / facts.synthetic:.1f} of it."
        )
    too_many = _too_many_workers(facts)
    if too_many is not None:
        return Verdict.TOO_MANY_WORKERS, f"Too many workers: {stall}; {too_many}"
    if facts.epoch_s is not None and facts.start_up_s > _MOST_OF_IT * facts.epoch_s:
        return Verdict.START_UP, (
            f"Starting up is the limit: {facts.start_up_s:.2f} of the {facts.epoch_s:.2f} seconds "
            f"of an epoch go into starting and ending it; {stall}."
        )
    if facts.copy_s * facts.synthetic > _MOST_OF_IT:
        return Verdict.TRANSFER, (
            f"Copying batches to the device is the limit: {facts.copy_s * 1e6:.0f} µs an image; "
            f"{stall}."
        )
    if facts.costs is None:
        return Verdict.NONE, (
            f"No verdict on the cause: {stall}, but what the loader does inside cannot be seen."
        )
    return _judge_costs(facts, facts.costs, stall)


def _judge_costs(facts: Facts, costs: Costs, stall: str) -> tuple[Verdict, str]:
    total_us = costs.total_s * 1e6
    waiting = costs.of("read") / costs.total_s
    if waiting > _MOST_OF_IT:
        return Verdict.READ, (
            f"Reading is the limit: {waiting:.0%} of an image's {total_us:,.0f} µs pass waiting "
            f"for data; {stall}."
        )
    locked = facts.worker_kind == "threads" and costs.lock_share > _LOCKED
    if locked and facts.cores > 1 and costs.python_s > _MOST_OF_IT * costs.cpu_s:
        name = max(
            (part for part in costs.parts if part.runs_in == "Python"), key=lambda p: p.seconds
        ).name
        return Verdict.INTERPRETER, (
            f"The interpreter lock is the limit: {name} is Python, of which one thread at a time "
            f"can run, and takes {costs.python_s / costs.cpu_s:.0%} of the work; {stall}."
        )
    if _has_too_few_workers(facts):
        kind = "threads" if facts.worker_kind == "threads" else "workers"
        return Verdict.WORKERS, (
            f"Too few {kind}: {facts.workers} for {facts.cores} cores, while {stall}."
        )
    shares = {
        Verdict.DECODE: costs.of("decode"),
        Verdict.AUGMENT: costs.of("augment"),
        Verdict.COLLATE: costs.of("collate"),
    }
    largest = max(shares, key=lambda verdict: shares[verdict])
    share = f"{shares[largest] / costs.cpu_s:.0%} of an image's {costs.cpu_s * 1e6:,.0f} µs"
    if largest is Verdict.DECODE:
        return largest, f"Decoding is the limit: {share}; {stall}."
    if largest is Verdict.COLLATE:
        return largest, f"Putting batches together is the limit: {share}; {stall}."
    slowest = costs.slowest("augment")
    name = "" if slowest is None else f", most of all {slowest.name}"
    return largest, f"Augmenting is the limit: {share}{name}; {stall}."


def _has_too_few_workers(facts: Facts) -> bool:
    """Tell whether cores are idle that more workers would use: measured, where that was done."""
    computing = max(1, facts.workers)  # without workers, the training process itself
    if facts.cores / computing < _SCALING_THAT_COUNTS:
        return False
    if facts.other_gain is None or facts.other_gain >= _GAIN_THAT_COUNTS:
        return True
    # Rounds that differ by more than the gain looked for say nothing against it.
    return facts.other_spread >= _GAIN_THAT_COUNTS


def _too_many_workers(facts: Facts) -> str | None:
    gain = facts.other_gain
    if gain is None or facts.workers <= facts.cores or gain < _GAIN_THAT_COUNTS:
        return None
    return (
        f"{facts.workers} on {facts.cores} cores get in each other's way, and "
        f"{facts.other_workers} deliver {gain:.1f} times as much."
    )


def _evidence(facts: Facts) -> tuple[str, ...]:
    lines = [
        f"the step alone: {facts.synthetic:,.0f} images/s",
        f"the pipeline alone on {facts.cores} cores: {facts.pipeline:,.0f} images/s",
        f"together: {facts.end_to_end:,.0f} images/s, over {facts.batches} batches",
    ]
    if facts.costs is not None:
        parts = sorted(facts.costs.parts, key=lambda part: -part.seconds)[:3]
        lines += [f"{part.name}: {part.seconds * 1e6:,.0f} µs an image" for part in parts]
    if facts.other_pipeline is not None:
        lines.append(
            f"the pipeline with {facts.other_workers} instead of {facts.workers} workers: "
            f"{facts.other_pipeline:,.0f} images/s"
        )
    if facts.epoch_s is not None:
        lines.append(
            f"an epoch takes {facts.epoch_s:.2f} s, of which {facts.start_up_s:.2f} s to start up"
        )
    return tuple(lines)
