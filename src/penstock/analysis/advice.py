"""What to do about a finding, best first, each with the line to write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from penstock.analysis.costs import Cost
from penstock.analysis.facts import Facts
from penstock.analysis.results import Advice, Verdict, WhatIf
from penstock.analysis.user_code import UserCode
from penstock.analysis.what_if import Model

_WORTH_SAYING = 1.03
_Gain = Callable[[float], float]
PACK, FAST = "packed (.pen)", 'fidelity="fast"'
ACCELERATE = "penstock.accelerate"
ACCELERATE_NEAR = f"{ACCELERATE}(strict=False)"
ACCELERATE_PACKED = f"{ACCELERATE} and {PACK}"


def advise(
    verdict: Verdict,
    facts: Facts,
    model: Model,
    changes: tuple[WhatIf, ...],
    code: UserCode | None = None,
) -> tuple[Advice, ...]:
    """Return what is worth doing, ranked by what it should gain end to end.

    Lines end in the place of the user's `code` that they change, where it can be told.
    """
    now = model.end_to_end(facts.synthetic, facts.pipeline, facts.cores)

    def gain(pipeline: float) -> float:
        return model.end_to_end(facts.synthetic, pipeline, facts.cores) / now

    found = [*_from_changes(changes), *_about_workers(verdict, facts, gain_of=gain)]
    found = [replace(one, line=_at(one.line, _loader_place(one.line, code))) for one in found]
    if facts.costs is not None:
        total_s = facts.costs.total_s
        for part in facts.costs.parts:
            if part.kind in {"augment", "collate"} and part.seconds > 0.2 * total_s:
                left = max(1 - part.seconds / total_s, 0.01)
                advice = _about_op(part, gain(facts.pipeline / left))
                made = None if code is None else code.call_place(part.name)
                found.append(replace(advice, line=_at(advice.line, made)))
    worth = [advice for advice in found if advice.gain >= _WORTH_SAYING]
    if verdict is Verdict.ACCELERATOR:
        worth.append(
            Advice(
                "Leave the input pipeline as it is",
                1.0,
                "",
                "The accelerator is busy; a faster model, mixed precision or another accelerator "
                "is what would help.",
            )
        )
    return tuple(sorted(worth, key=lambda advice: -advice.gain))


def _at(line: str, place: str | None) -> str:
    return f"{line}  # {place}" if line and place else line


def _loader_place(line: str, code: UserCode | None) -> str | None:
    keyword, equals, _ = line.partition("=")
    return None if code is None else code.loader_place(keyword if equals else None)


_LINES = {
    PACK: (
        "Pack the data set",
        'penstock.pack("DATA", "train.pen"); Loader("train.pen", ...)',
        "Packed images decode many times faster. Measured on a sample of the data.",
    ),
    ACCELERATE: (
        "Let penstock run this DataLoader",
        "loader = penstock.accelerate(loader)",
        "The same pixels from native code, without worker processes. Measured.",
    ),
    ACCELERATE_NEAR: (
        "Let penstock run all of this DataLoader natively",
        "loader = penstock.accelerate(loader, strict=False)",
        "Pixels differ within bounds that loader.translation states. Measured.",
    ),
    ACCELERATE_PACKED: (
        "Pack the data set, and let penstock load it",
        'penstock.pack("DATA", "train.pen"); loader = penstock.Loader("train.pen", ...)',
        "Native code on images that decode many times faster. Measured on a sample of the data.",
    ),
    FAST: (
        "Decode large photos at reduced size",
        'Loader(..., fidelity="fast")',
        "Pixels differ by a few levels. Measured.",
    ),
}


def _from_changes(changes: tuple[WhatIf, ...]) -> Iterator[Advice]:
    for change in changes:
        if change.change in _LINES:
            title, line, why = _LINES[change.change]
            yield Advice(title, change.gain, line, why)
        elif change.change.endswith(("feeds it", "feed it")):
            yield Advice(
                f"Give it {' '.join(change.change.split()[:2]).rstrip(',')}",
                change.gain,
                "",
                f"{change.change.removesuffix(' it')} this accelerator. Predicted.",
            )


def _about_workers(verdict: Verdict, facts: Facts, gain_of: _Gain) -> Iterator[Advice]:
    keyword = "threads" if facts.worker_kind == "threads" else "num_workers"
    if verdict is Verdict.TOO_MANY_WORKERS and facts.other_pipeline is not None:
        yield Advice(
            f"Use {facts.other_workers} workers",
            gain_of(facts.other_pipeline),
            f"{keyword}={facts.other_workers}",
            f"{facts.workers} workers on {facts.cores} cores only switch more often. Measured.",
        )
    if verdict is Verdict.WORKERS:
        faster = facts.pipeline * facts.cores / max(1, facts.workers)
        yield Advice(
            f"Use {facts.cores} {'threads' if keyword == 'threads' else 'workers'}",
            gain_of(facts.other_pipeline or faster),
            f"{keyword}={facts.cores}",
            "Cores are idle while the accelerator waits.",
        )
    if verdict is Verdict.START_UP and facts.worker_kind == "processes":
        yield Advice(
            "Keep the workers from epoch to epoch",
            1 / max(0.05, 1 - facts.start_up_s / (facts.epoch_s or facts.start_up_s)),
            "persistent_workers=True",
            "Every epoch starts the workers anew, which takes longer than the work.",
        )
    if verdict is Verdict.READ and facts.worker_kind == "processes":
        yield Advice(
            "Read with more workers",
            gain_of(2 * facts.pipeline),
            f"{keyword}={max(2, 2 * facts.workers)}",
            "A worker that waits for data needs no core. Packing the data set into one file that "
            "is read in order helps more.",
        )


def _about_op(part: Cost, gain: float) -> Advice:
    if part.kind == "collate":
        return Advice(
            "Make collate_fn cheaper",
            gain,
            "collate_fn=torch.utils.data.default_collate",
            "It takes a large share of the work; pad less, or copy once.",
        )
    where = "native op of penstock.transforms" if part.runs_in == "Python" else "cheaper op"
    return Advice(
        f"Replace or move {part.name}",
        gain,
        f"# after the crop, or a {where} instead of {part.name}",
        "After the crop it sees fewer pixels. The gain is that of leaving it out.",
    )
