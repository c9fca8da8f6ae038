"""What a planning rule is, and how rules are applied to the moves that were drawn for a batch.

A rule looks at moves that follow each other and may replace them by others that do the same, or
nearly the same, for less. Rules see drawn moves and not the user's list, for three reasons: what is
drawn is fixed before the first rule runs, so no rule can change a draw; all sizes are known; and
an augmentation policy does something else to every sample, so a rule can apply to some samples of
a batch and leave the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from penstock.errors import PlanError
from penstock.geometry import Sizes
from penstock.planner.draft import Draft, Moves, Stage, replace_stages
from penstock.transforms.moves import Move


class Fidelity(Enum):
    """What a rule may change."""

    EXACT = "exact"  # nothing: the same bytes come out
    FAST = "fast"  # pixel values, within the rule's bound
    RELAXED = "relaxed"  # the distribution of results; applied only where the user allows the rule


@dataclass(frozen=True, slots=True)
class Bound:
    """How far the results of a fast rule may be from the exact ones, in levels of 0 to 255."""

    mean: float  # of the differences of an image, at most
    most: float  # a single difference, at most
    psnr_db: float  # at least


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewriting of `span` moves that follow each other; without a span, of all moves.

    `rewrite` gets these moves and the sizes of the images before them. It returns what replaces
    them, or None where there is nothing to gain. Rules are applied until none changes anything, so
    each one must leave moves to which it does not apply again. Only then come those that are
    `last`, once each: what they leave is for the core, and no other rule works on it.
    """

    name: str
    fidelity: Fidelity
    rewrite: Callable[[Moves, Sizes], Moves | None]
    span: int | None = 2
    bound: Bound | None = None
    free: bool = False  # it can only save work, so that the planner need not compare costs
    last: bool = False  # only with no span

    @property
    def asks(self) -> bool:
        """Whether it changes results, so that the user must have asked for it."""
        return self.fidelity != Fidelity.EXACT

    @property
    def summary(self) -> str:
        """The first line of the rule's explanation."""
        return (self.rewrite.__doc__ or "").strip().partition("\n")[0]


# More than any pipeline needs: beyond it, two rules undo each other's work.
_MOST_REWRITINGS = 10_000


def rewrite_moves(moves: Sequence[Move], sizes: Sizes, rules: Iterable[Rule]) -> Moves:
    """Apply `rules` to bare moves, until nothing changes."""
    nowhere: frozenset[int] = frozenset()
    draft = Draft(tuple(Stage(move, nowhere) for move in moves), sizes)
    return rewrite(draft, rules)[0].moves


def rewrite(draft: Draft, rules: Iterable[Rule]) -> tuple[Draft, frozenset[str]]:
    """Apply `rules` until nothing changes; return the draft, and the names of rules that fired."""
    rules = tuple(rules)
    draft, fired = _rewrite_till_done(draft, [rule for rule in rules if not rule.last])
    for rule in rules:
        found = _try_whole(draft, [rule]) if rule.last else None
        if found is not None:
            draft = found[1]
            fired.add(rule.name)
    return draft, frozenset(fired)


def _rewrite_till_done(draft: Draft, rules: Sequence[Rule]) -> tuple[Draft, set[str]]:
    local = [rule for rule in rules if rule.span is not None]
    fired: set[str] = set()
    before = [draft.sizes]  # before[i]: the sizes before stage i
    position = 0
    for _ in range(_MOST_REWRITINGS):
        while len(before) <= position:
            before.append(draft.stages[len(before) - 1].move.out_sizes(before[-1]))
        if position < len(draft.stages):
            found = _try_at(draft, position, before[position], local)
        else:
            found = _try_whole(draft, rules)
            position = 0
            if found is None:
                return draft, fired
        if found is None:
            position += 1
            continue
        rule, draft = found
        fired.add(rule.name)
        position = max(position - 1, 0)
        del before[position + 1 :]
    raise PlanError(
        f"The plan does not come to an end: {', '.join(sorted(fired))} undo each other. "
        "Please report this pipeline; Loader(plan=False) does without the planner."
    )


def _try_at(
    draft: Draft, position: int, sizes: Sizes, rules: Sequence[Rule]
) -> tuple[Rule, Draft] | None:
    ahead = draft.moves[position:]
    for rule in rules:
        window = ahead[: rule.span]
        if len(window) == rule.span:
            moves = rule.rewrite(window, sizes)
            if moves is not None:
                return rule, replace_stages(draft, position, len(window), moves)
    return None


def _try_whole(draft: Draft, rules: Sequence[Rule]) -> tuple[Rule, Draft] | None:
    for rule in rules:
        moves = rule.rewrite(draft.moves, draft.sizes) if rule.span is None else None
        if moves is not None:
            return rule, replace_stages(draft, 0, len(draft.stages), moves)
    return None
