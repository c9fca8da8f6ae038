"""What to do about a finding, best first, each with the line to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from penstock.analysis.rate_model import Model
from penstock.analysis.user_code import UserCode
from penstock.analysis.verdict import Measurements
from penstock.analysis.what_if import ENOUGH
from penstock.costs.costs import Cost
from penstock.results.records import Advice, Verdict, WhatIf

_WORTH_SAYING = 1.03
_LARGE_SHARE = 0.2  # of an image's time: a smaller part is not worth starting with
_Gain = Callable[[float], float]
PACK, FAST = "packed (.pen)", 'fidelity="fast"'
ACCELERATE = "penstock.accelerate"
ACCELERATE_NEAR = f"{ACCELERATE}(strict=False)"
ACCELERATE_PACKED = f"{ACCELERATE} and {PACK}"
CACHE = "a cache that has everything"
WINDOW = "shuffling in windows of blocks"
MORE_REQUESTS = "more requests at the same time"
ORDER = "the same transforms in a better order"
ORDER_FAST = f"{ORDER}, pixels not quite the same"


def advise(
    verdict: Verdict,
    facts: Measurements,
    model: Model,
    changes: tuple[WhatIf, ...],
    code: UserCode | None = None,
) -> tuple[Advice, ...]:
    """Return what is worth doing, ranked by what it should gain end to end.

    Each line of advice ends with the place in the user's `code` to change, if that is known.
    """
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)

    def gain(pipeline: float) -> float:
        return model.end_to_end(facts.synthetic, pipeline, facts.cores) / now

    found = [*_from_changes(changes, facts), *_about_workers(verdict, facts, gain_of=gain)]
    found = [replace(one, line=_at(one.line, _loader_place(one.line, code))) for one in found]
    found += _about_parts(facts, gain)
    worth = [one for one in found if one.gain is None or one.gain >= _WORTH_SAYING]
    has_gain = any(one.gain is not None for one in worth)
    if verdict is Verdict.ACCELERATOR and not facts.computes_here and not has_gain:
        worth.append(_leave_it(facts))
    return tuple(sorted(worth, key=lambda one: -one.rank))


def _leave_it(facts: Measurements) -> Advice:
    ways = "a faster model, mixed precision or another accelerator is what would help"
    why = f"The accelerator is busy; {ways}."
    if facts.assumption:
        assumption = facts.assumption[0].upper() + facts.assumption[1:]
        why = f"{assumption}, it would be busy; {ways}."
    return Advice("Leave the input pipeline as it is", None, "", why)


def _at(line: str, place: str | None) -> str:
    return f"{line}  # {place}" if line and place else line


def _loader_place(line: str, code: UserCode | None) -> str | None:
    if code is None:
        return None
    if "\n" in line:  # a list of transforms
        return code.call_place("Compose")
    keyword, equals, _ = line.partition("=")
    return code.loader_place(keyword if equals else None)


_LINES = {
    PACK: (
        "Pack the data set",
        'penstock.pack("DATA", "train.pen"); Loader("train.pen", ...)',
        "The same pixels from a file that decodes faster.",
        "on a sample of the data",
    ),
    ACCELERATE: (
        "Let penstock run this DataLoader",
        "loader = penstock.accelerate(loader)",
        "The same pixels from native code, without worker processes.",
        "here",
    ),
    ACCELERATE_NEAR: (
        "Let penstock run this DataLoader, pixels not quite the same",
        "loader = penstock.accelerate(loader, strict=False)",
        "Native code also for what is not exactly the same there",
        "here",
    ),
    ACCELERATE_PACKED: (
        "Pack the data set, and let penstock load it",
        'penstock.pack("DATA", "train.pen"); loader = penstock.Loader("train.pen", ...)',
        "The same pixels from native code, on a file that decodes faster.",
        "on a sample of the data",
    ),
    ORDER: (
        "Put the transforms into another order",
        "",
        "Only the order of your own ops changes",
        "in turn with the order as it is",
    ),
    ORDER_FAST: (
        "Put the transforms into another order, pixels not quite the same",
        "",
        "Only the order of your own ops changes",
        "in turn with the order as it is",
    ),
    CACHE: (
        "Keep what was read on a disk of this machine",
        "",
        "What was read once is not read from the store again",
        "on some samples",
    ),
    WINDOW: (
        "Shuffle in windows of blocks",
        "",
        "A request brings some 4 MB instead of one image",
        "here",
    ),
    MORE_REQUESTS: (
        "Ask for more at the same time",
        "",
        "Answers take long, but many can be waited for at once",
        "here",
    ),
    FAST: (
        "Decode large photos at reduced size",
        'Loader(..., fidelity="fast")',
        "Pixels differ by a few levels.",
        "here",
    ),
}


def _from_changes(changes: tuple[WhatIf, ...], facts: Measurements) -> Iterator[Advice]:
    for change in changes:
        if change.change in _LINES:
            title, line, why, where = _LINES[change.change]
            why += f": {change.note}" if change.note else ""
            if change.pipeline is not None:
                why = (
                    f"{why.rstrip('.')}. Measured {where}: the loader gives "
                    f"{change.pipeline:,.0f} images/s instead of {facts.pipeline:,.0f}."
                )
            else:
                why = f"{why.rstrip('.')}. The gain follows from that."
            yield Advice(title, change.gain, line or change.line, why)
        elif change.change.endswith(ENOUGH):
            many = change.change.removesuffix(f" {ENOUGH}")
            whose = _on_whose(facts) or "the accelerator"
            yield Advice(
                f"Give it {many}",
                change.gain,
                "",
                f"So many keep {whose} busy. Predicted from {facts.cores}, not measured.",
            )


def _on_whose(facts: Measurements, before: str = "") -> str:
    """Name an accelerator that was assumed, not measured; an empty text for a real one."""
    if facts.emulated_rate is None:
        return ""
    return f"{before}an accelerator of {facts.emulated_rate:,.0f} images/s"


def _about_workers(verdict: Verdict, facts: Measurements, gain_of: _Gain) -> Iterator[Advice]:
    kind = "threads" if facts.worker_kind == "threads" else "workers"
    keyword = "threads" if kind == "threads" else "num_workers"
    if verdict is Verdict.TOO_MANY_WORKERS and facts.other_pipeline is not None:
        yield Advice(
            f"Use {facts.other_workers} {kind}",
            gain_of(facts.other_pipeline),
            f"{keyword}={facts.other_workers}",
            f"{facts.workers} on {facts.cores} cores only switch more often. Measured.",
        )
    if verdict is Verdict.WORKERS:
        if facts.other_pipeline is not None:
            gain, how = gain_of(facts.other_pipeline), "Measured."
        else:
            gain = gain_of(facts.pipeline * facts.cores / max(1, facts.workers))
            how = "Not measured: the gain is what comes of it if they all keep busy."
        yield Advice(
            f"Use {facts.cores} {kind}",
            gain,
            f"{keyword}={facts.cores}",
            f"Some of the {facts.cores} cores are idle. {how}",
        )
    is_restarted = facts.worker_kind == "processes" and facts.workers and not facts.keeps_workers
    if verdict is Verdict.START_UP and is_restarted:
        yield Advice(
            "Keep the workers from epoch to epoch",
            1 / max(0.05, 1 - facts.start_up_s / (facts.epoch_s or facts.start_up_s)),
            "persistent_workers=True",
            "Every epoch starts the workers anew, which takes longer than the work. The gain is "
            "what comes of it if nothing of that is left.",
        )
    if verdict is Verdict.READ and facts.worker_kind == "processes":
        yield Advice(
            "Read with more workers",
            gain_of(2 * facts.pipeline),
            f"{keyword}={max(2, 2 * facts.workers)}",
            "A worker that waits for data needs no core. Not measured: the gain is what comes of "
            "it if the storage serves twice as many readers as fast. The other way is to pack the "
            "data set into one file that is read in order.",
        )


def _about_parts(facts: Measurements, gain_of: _Gain) -> Iterator[Advice]:
    """Yield advice on the parts that take much of an image's time."""
    if facts.costs is None or facts.costs.total_s <= 0:
        return
    total_s = facts.costs.total_s

    def gain_without(seconds: float) -> float:
        return gain_of(facts.pipeline / max(1 - seconds / total_s, 0.01))

    for part in facts.costs.parts:
        if part.kind not in {"own", "augment", "collate"} or part.seconds < _LARGE_SHARE * total_s:
            continue
        if (most := gain_without(part.seconds)) >= _WORTH_SAYING:
            share = f"It takes {part.seconds / total_s:.0%} of an image's time"
            title, ways = _cheaper(part)
            at_most = f"If it cost nothing, training would be {most:.2f} times as fast"
            at_most += f"{_on_whose(facts, ' on ')}; {ways}"
            if title:
                yield Advice(title, None, "", f"{share}. {at_most}")


def _cheaper(part: Cost) -> tuple[str, str]:
    """Return what could be done about a part, and how; empty texts if nothing can."""
    if part.kind == "collate":
        return "Make collate_fn cheaper", "pad less, or copy once."
    if part.kind == "own":
        return (
            "Make the data set's own code cheaper",
            "`penstock profile` shows which of its lines take the time.",
        )
    if part.is_of_users:
        return (
            f"Make {part.name} cheaper",
            "`penstock profile` shows which of its lines take the time.",
        )
    if part.can_be_left_out:
        return (
            f"Use {part.name} on fewer images, or a cheaper op",
            "a cheaper one brings less than that.",
        )
    return "", ""
