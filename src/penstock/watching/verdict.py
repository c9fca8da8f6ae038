"""What holds a training up, as far as the waits of its loop and looks inside its loader tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt

from penstock.results.records import Verdict
from penstock.watching.frames import Stage
from penstock.watching.inside import Inside, Part
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.shared_cores import CpuUse, Range

FEWEST_STEPS = 5  # beyond the first of each epoch
SMALL_SHARE = 0.1  # of the time: a loader that costs nothing would gain no more than a ninth
_MOSTLY_WAITING = 0.5  # of a worker's time
_MOSTLY_IDLE = 0.5
_BUSY_WORKERS = 0.75  # of their time, or there is no use for more of them
_GAIN_THAT_COUNTS = 1.15
_QUEUEING = 0.3  # of a worker's time: more shows that there are too few cores, not workers
_MUCH_HANDING_OVER = 0.3  # of the time that the loop waits, or of the workers' in other threads
_MOST_WORKERS_PER_CORE = 4  # of workers that mostly wait
_OTHERWISE_KNOWN = 0.02  # of a share that was sampled: what an interval between looks may hide
_FASTER_IS_HARDER = 0.9  # of the rate: batches that come faster cost more to hand over
_WORSE = 0.75  # of what more workers bring at best: they share caches and memory too
_OVERLAP = 4.0  # of loading and computing, at worst: see penstock.analysis.rate_model


@dataclass(frozen=True, slots=True)
class Shares:
    """Which share of the time the loop waited."""

    restarts: int  # epochs of one batch each, where all are; else 0
    steps: int  # beyond the first of each epoch
    all_steps: float
    later_steps: float  # without the first of each epoch


@dataclass(frozen=True, slots=True)
class Promise:
    """A change, and what it would bring."""

    change: str  # as one would write or do it
    gain: Range


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, a sentence that says what it means, and what would help."""

    verdict: Verdict
    sentence: str
    promises: tuple[Promise, ...] = ()


def judge(
    shares: Shares,
    facts: LoaderFacts,
    cores: int,
    inside: Inside | None = None,
    use: CpuUse | None = None,
) -> Judgement:
    """Judge a training by its waits and, where these are known, by its loader's work."""
    judged = _judge(shares, facts, cores, inside, use)
    is_crowded = inside is not None and inside.queued > _QUEUEING
    if not judged.promises or not is_crowded or use is None or use.is_busy:
        return judged
    sentence = f"{judged.sentence} Other programs used the cores too: these figures are rough."
    return replace(judged, sentence=sentence)


def _judge(
    shares: Shares,
    facts: LoaderFacts,
    cores: int,
    inside: Inside | None,
    use: CpuUse | None,
) -> Judgement:
    if shares.steps < FEWEST_STEPS:
        return Judgement(Verdict.NONE, _too_few(shares))
    if use is not None and use.is_contended and facts.workers:
        return _judge_contended(shares, use)
    if shares.later_steps < SMALL_SHARE:
        return _judge_fed(shares, facts, use)
    waits = f"The loop waits for its batches {shares.later_steps:.0%} of the time"
    if inside is None or use is None or not use.loading_is_known:
        return _judge_from_outside(shares, facts, cores, waits)
    if inside.waiting >= _MOSTLY_WAITING:
        return _judge_waiting(shares, facts, inside, use, waits)
    if facts.workers and inside.idle >= _MOSTLY_IDLE:
        return _judge_idle(inside, facts, waits)
    fewer = _judge_too_few_workers(shares, facts, inside, use, waits)
    return fewer or _judge_parts(shares, facts, inside, use, waits)


def _too_few(shares: Shares) -> str:
    if shares.restarts >= FEWEST_STEPS:
        return (
            f"No verdict: the loader was started {shares.restarts:,} times, for one batch each. "
            "next(iter(loader)) in a loop starts the loader again every time: keep the "
            "iterator."
        )
    return (
        f"No verdict: {shares.steps} steps after the first are too few, "
        f"at least {FEWEST_STEPS} are needed."
    )


def _judge_contended(shares: Shares, use: CpuUse) -> Judgement:
    waits = f"the loop waits for its batches {{}}{shares.later_steps:.0%} of the time"
    is_small = shares.later_steps < SMALL_SHARE
    compete = (
        f"Loading and the training step compete for the same {use.cores} cores"
        f"{', although ' if is_small else '; '}{waits.format('only ' if is_small else '')}"
    )
    if not use.is_busy:
        return Judgement(
            Verdict.SHARED_CORES,
            f"{compete}. Other programs use these cores too: the training got "
            f"{use.busy:.0%} of their time, {use.loading_share:.0%} of that for loading. A "
            "cheaper loader makes the step faster too; measure again on a quiet machine to see "
            "how much.",
        )
    gain = use.gain_of_cheaper_loading()
    return Judgement(
        Verdict.SHARED_CORES,
        f"{compete}. The cores were busy {min(use.busy, 1):.0%} of the time, "
        f"{use.loading_share:.0%} of that with loading, so a cheaper loader makes the step "
        "faster too: one that needs a fifth of the CPU time, as penstock.accelerate(loader) "
        f"often does, would make training {gain} as fast.",
        (Promise("penstock.accelerate(loader)", gain),),
    )


def _judge_fed(shares: Shares, facts: LoaderFacts, use: CpuUse | None) -> Judgement:
    if shares.all_steps >= 2 * SMALL_SHARE:
        keeping = ""
        if facts.workers and not facts.keeps_workers:
            keeping = ", or workers that are kept between them (persistent_workers=True),"
        return Judgement(
            Verdict.START_UP,
            (
                f"Waiting takes {shares.all_steps:.0%} of the time, but only "
                f"{shares.later_steps:.0%} after the first batch of each epoch: longer epochs"
                f"{keeping} would help."
            ),
        )
    waits = (
        "The training step sets the pace: the loop waits for its batches only "
        f"{shares.later_steps:.0%} of the time"
    )
    if use is None or not use.step_computes_here:
        gain = 1 / (1 - shares.later_steps)
        verdict, here = Verdict.ACCELERATOR, ""
    else:
        gain = use.most_from_loading(shares.later_steps)
        verdict = Verdict.STEP
        here = f" It computes on {use.step_cores:.1f} of the {use.cores} cores, " + (
            f"and loading takes {use.loading_share:.0%} of all CPU time."
            if use.loading_is_known
            else "the loader's own threads among them."
        )
    return Judgement(
        verdict,
        f"{waits}.{here} A loader that took no time at all would make training {_at_most(gain)}.",
        (Promise("a loader that takes no time", Range(1.0, gain)),),
    )


def _judge_from_outside(shares: Shares, facts: LoaderFacts, cores: int, waits: str) -> Judgement:
    """Judge a loader that could not be looked into, such as one with threads in native code."""
    waits = f"{waits}: with an instant loader it would run {_times(shares)} times as fast"
    if facts.workers == 0 and cores > 1:
        return Judgement(
            Verdict.WORKERS,
            f"{waits}, and num_workers=0 loads them in the training process itself, "
            f"one at a time, on a machine with {cores} cores. Try num_workers={cores}.",
        )
    if facts.workers is not None and 0 < facts.workers <= cores // 2:
        return Judgement(
            Verdict.WORKERS,
            f"{waits}, and num_workers={facts.workers} uses no more than "
            f"{facts.workers} of {cores} cores. Try num_workers={cores}.",
        )
    return Judgement(Verdict.INPUT, f"{waits}{_crowd(facts, cores)}.")


def _judge_waiting(
    shares: Shares, facts: LoaderFacts, inside: Inside, use: CpuUse, waits: str
) -> Judgement:
    part = _where_it_waits(inside)
    how = f" with {part.name}" if part.stage is Stage.READ and part.name != "files" else ""
    where = f", mostly while {_verb(part)}{how}{_at(part)}"
    if facts.workers:
        told = f"{waits}, and its workers wait too: about {inside.waiting:.0%} of their time"
    else:
        told = f"{waits}, and about {inside.waiting:.0%} of that"
    told = f"{told} passes without using the CPU{where}."
    now = facts.workers
    if now is None:
        return Judgement(Verdict.READ, f"{told} Reading ahead, several at a time, would help.")
    others_s = max(use.loading_s / use.core_time, _step_s(shares, use), 1e-9)
    enough = ceil(inside.work_s / others_s)
    most = max(2 * now, _MOST_WORKERS_PER_CORE * use.cores)
    workers = min(max(enough, 2 * now, 2), most)
    gain = _gain_of_workers(workers, facts, shares, inside, use)
    if gain.high < _GAIN_THAT_COUNTS:
        return Judgement(Verdict.READ, told)
    return Judgement(
        Verdict.READ,
        f"{told} A worker that waits needs no core: with num_workers={workers} instead of {now} "
        f"it would run {gain} as fast, if what is read from keeps up.",
        (Promise(f"num_workers={workers}", gain),),
    )


def _where_it_waits(inside: Inside) -> Part:
    """Return the part that most likely waits: decoding a file reads it, an op reads nothing."""
    for stage in (Stage.READ, Stage.OWN, Stage.DECODE):
        if inside.share(stage) >= inside.waiting / 2:
            return inside.largest(stage)
    return inside.parts[0]


def _judge_idle(inside: Inside, facts: LoaderFacts, waits: str) -> Judgement:
    idle = f"{waits}, but its workers have nothing to do {inside.idle:.0%} of theirs"
    if inside.handing_over >= _MUCH_HANDING_OVER:
        return Judgement(
            Verdict.TRANSFER,
            f"{idle}: what takes long is handing finished batches over to the training process. "
            "Smaller batches, such as uint8 images that the step converts, or a loader without "
            "worker processes would help.",
        )
    return Judgement(
        Verdict.INPUT,
        f"{idle}: they are fast enough on the whole, but not evenly. A few slow batches hold up "
        f"those behind them; a larger prefetch_factor than {facts.prefetch or 2} evens that out.",
    )


def _judge_too_few_workers(
    shares: Shares, facts: LoaderFacts, inside: Inside, use: CpuUse, waits: str
) -> Judgement | None:
    now = facts.workers
    if now is None or now >= use.cores or inside.idle > 1 - _BUSY_WORKERS:
        return None
    if inside.queued > _QUEUEING:
        return None  # the cores are not idle: other programs use them
    gain = _gain_of_workers(use.cores, facts, shares, inside, use)
    if gain.high < _GAIN_THAT_COUNTS:
        return None
    idle = max(0.0, use.core_time - use.busy_cores)
    if now == 0:
        cause = (
            "num_workers=0 loads them in the training process itself, one after the other, "
            f"while {idle:.1f} of {use.cores} cores are idle"
        )
    else:
        many = f"its {now} workers are" if now > 1 else "its only worker is"
        cause = f"{many} busy all the time while {idle:.1f} of {use.cores} cores are idle"
    return Judgement(
        Verdict.WORKERS,
        f"{waits}: {cause}. There are too few workers: with num_workers={use.cores} it would run "
        f"{gain} as fast.",
        (Promise(f"num_workers={use.cores}", gain),),
    )


def _judge_parts(
    shares: Shares, facts: LoaderFacts, inside: Inside, use: CpuUse, waits: str
) -> Judgement:
    """Name the part that takes most of the loader's time."""
    stage = max((part.stage for part in inside.parts), key=inside.share)
    part, share = inside.largest(stage), inside.share(stage)
    alone = "" if part.share > 0.9 * share else f", {part.share:.0%} into {part.name} alone"
    verdict, where = {
        Stage.READ: (Verdict.READ, "reading"),
        Stage.DECODE: (Verdict.DECODE, "decoding"),
        Stage.OP: (Verdict.AUGMENT, f"augmenting{alone}" if alone else f"the op {part.name}"),
        Stage.COLLATE: (Verdict.COLLATE, f"putting batches together, in {part.name}"),
        Stage.HAND_OVER: (Verdict.TRANSFER, "handing batches over to the training process"),
        Stage.OWN: (Verdict.OWN_CODE, f"your own code, most of it into {part.name}"),
    }.get(stage, (Verdict.INPUT, stage.value))
    has_name = stage in {Stage.OP, Stage.OWN}
    gain = _gain_without(part.share if has_name else share, facts, shares, inside, use)
    change = f"Without {part.name}" if has_name else "If that cost nothing"
    crowd = _crowd(facts, use.cores)
    return Judgement(
        verdict,
        f"{waits}. About {share:.0%} of the loader's time goes into {where}{_at(part)}. "
        f"{change}, it would run {gain} as fast{crowd}.",
        (Promise(change, gain),),
    )


def _gain_of_workers(
    workers: int, facts: LoaderFacts, shares: Shares, inside: Inside, use: CpuUse
) -> Range:
    """Return the gain of this many workers, up to the limit of the cores or the step."""
    loading_s = max(inside.work_s / workers, (use.loading_s + use.step_s) / use.core_time)
    fast_s, slow_s = _together(loading_s, _step_s(shares, use))
    # Without workers, loading and computing take turns: workers also end that.
    most = workers / facts.workers if facts.workers else workers + 1
    high = min(use.wall_s / fast_s, most)
    return Range(max(1.0, min(use.wall_s / slow_s, _WORSE * high)), max(1.0, high))


def _gain_without(
    share: float, facts: LoaderFacts, shares: Shares, inside: Inside, use: CpuUse
) -> Range:
    """Return the gain of leaving out a part of the loader's work."""
    unsure = 2 * sqrt(share * (1 - share) / inside.samples) + _OTHERWISE_KNOWN
    least, most = max(share - unsure, 0.0), min(share + unsure, 1.0)
    step_s = _step_s(shares, use)
    if facts.workers:
        _, slow_s = _together(use.wall_s * (1 - least) / _FASTER_IS_HARDER, step_s)
        cpu_s = (use.loading_s * (1 - most) + use.step_s) / use.core_time
        fast_s, _ = _together(max(use.wall_s * (1 - most), cpu_s), step_s)
    else:  # it works in the loop itself, while that waits
        waited_s = use.wall_s - step_s
        slow_s, fast_s = step_s + waited_s * (1 - least), step_s + waited_s * (1 - most)
    return Range(max(1.0, use.wall_s / slow_s), max(1.0, use.wall_s / max(fast_s, 1e-9)))


def _together(loading_s: float, step_s: float) -> tuple[float, float]:
    """Return how long an image takes at best and at worst, if both go on side by side."""
    longer = max(loading_s, step_s, 1e-9)
    shorter = min(loading_s, step_s)
    return longer, longer * float((1 + (shorter / longer) ** _OVERLAP) ** (1 / _OVERLAP))


def _step_s(shares: Shares, use: CpuUse) -> float:
    """Return how long the loop itself takes for an image: to receive it, and to compute."""
    return (1 - shares.later_steps) * use.wall_s + use.receiving_s


def _verb(part: Part) -> str:
    if part.stage in {Stage.READ, Stage.DECODE}:
        return str(part.stage.value)
    return f"in {part.label}"


def _at(part: Part) -> str:
    return f" ({part.place})" if part.place else ""


def _crowd(facts: LoaderFacts, cores: int) -> str:
    if facts.workers is not None and facts.workers > 2 * cores:
        return f"; {facts.workers} workers share {cores} cores, fewer would do the same"
    return ""


def _at_most(gain: float) -> str:
    return "no faster" if gain < 1.005 else f"at most {gain:.2f} times as fast"


def _times(shares: Shares) -> str:
    most: float = 1 / max(1 - shares.later_steps, 0.01)
    return "over 50" if most > 50 else f"{most:.1f}"
