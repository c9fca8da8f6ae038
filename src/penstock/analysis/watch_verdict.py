"""What holds a training up, as far as the waits of its loop tell."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.analysis.loader_facts import LoaderFacts
from penstock.analysis.results import Verdict

FEWEST_STEPS = 5  # beyond the first of each epoch
SMALL_SHARE = 0.1  # of the time: a loader that costs nothing would gain no more than a ninth


@dataclass(frozen=True, slots=True)
class Shares:
    """Which share of the time the loop waited."""

    restarts: int  # epochs of one batch each, where all are; else 0
    steps: int  # beyond the first of each epoch
    all_steps: float
    later_steps: float  # without the first of each epoch


def judge(shares: Shares, facts: LoaderFacts, cores: int) -> tuple[Verdict, str]:
    """Return the verdict, and a sentence that says what it means."""
    if shares.steps < FEWEST_STEPS:
        return Verdict.NONE, _too_few(shares)
    if shares.later_steps < SMALL_SHARE:
        return _judge_fed(shares, facts)
    waits = (
        f"The loop waits for its batches {shares.later_steps:.0%} of the time: "
        f"{_gain(shares.later_steps)}"
    )
    if facts.workers == 0 and cores > 1:
        return (
            Verdict.WORKERS,
            (
                f"{waits}, and num_workers=0 loads them in the training process itself, "
                f"one at a time, on a machine with {cores} cores. Try num_workers={cores}."
            ),
        )
    if facts.workers is not None and 0 < facts.workers <= cores // 2:
        return (
            Verdict.WORKERS,
            (
                f"{waits}, and num_workers={facts.workers} uses no more than "
                f"{facts.workers} of {cores} cores. Try num_workers={cores}."
            ),
        )
    if facts.workers is not None and facts.workers > 2 * cores:
        return (
            Verdict.INPUT,
            f"{waits}; {facts.workers} workers share {cores} cores, fewer would do the same.",
        )
    return Verdict.INPUT, f"{waits}."


def _too_few(shares: Shares) -> str:
    if shares.restarts >= FEWEST_STEPS:
        return (
            f"No verdict: the loader was started {shares.restarts:,} times, for one batch each. "
            "Where next(iter(loader)) stands in a loop, it starts anew every time: keep the "
            "iterator."
        )
    return (
        f"No verdict: {shares.steps} steps after the first are too few, "
        f"at least {FEWEST_STEPS} are needed."
    )


def _judge_fed(shares: Shares, facts: LoaderFacts) -> tuple[Verdict, str]:
    if shares.all_steps >= 2 * SMALL_SHARE:
        keeping = ""
        if facts.workers and not facts.keeps_workers:
            keeping = ", or workers that are kept between them (persistent_workers=True),"
        return (
            Verdict.START_UP,
            (
                f"Waiting takes {shares.all_steps:.0%} of the time, but only "
                f"{shares.later_steps:.0%} after the first batch of each epoch: longer epochs"
                f"{keeping} would help."
            ),
        )
    return (
        Verdict.ACCELERATOR,
        (
            f"The loop waits for its batches only {shares.later_steps:.0%} of the time: "
            "the training step sets the pace, and no faster loader could change that much."
        ),
    )


def _gain(share: float) -> str:
    most = 1 / max(1 - share, 0.01)
    times = "over 50" if most > 50 else f"{most:.1f}"
    return f"with an instant loader it would run {times} times as fast"
