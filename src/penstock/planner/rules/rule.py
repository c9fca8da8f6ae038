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
from penstock.planner.draft import Draft, Moves, replace_stages
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
    # What the Python for it costs where it fires, in microseconds per sample of a batch of 16: the
    # rewriting, and what it makes dearer in drawing up programs.
    python_us: float = 3.0

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
    rewriting = _Rewriting(tuple(moves), sizes)
    rewriting.apply(tuple(rules))
    return rewriting.moves


def rewrite(draft: Draft, rules: Iterable[Rule]) -> tuple[Draft, frozenset[str]]:
    """Apply `rules` until nothing changes; return the draft, and the names of rules that fired."""
    rewriting = _RewritingOfDraft(draft)
    rewriting.apply(tuple(rules))
    return rewriting.draft, frozenset(rewriting.fired)


class _Rewriting:
    """The moves of a batch while rules are applied to them.

    This is done for every batch, so nothing is asked twice: what a rule says of the very same moves
    and sizes is the same.
    """

    def __init__(self, moves: Moves, sizes: Sizes) -> None:
        self.moves = moves
        self.fired: set[str] = set()
        self._sizes = sizes
        # What rules had nothing to do with, by identity; kept, so that no other has that identity.
        self._in_vain: dict[tuple[object, ...], tuple[Moves, Sizes]] = {}

    def apply(self, rules: Sequence[Rule]) -> None:
        self._apply_till_done([rule for rule in rules if not rule.last])
        for rule in rules:
            if rule.last:
                self._apply_to_all(rule)

    def _apply_till_done(self, rules: Sequence[Rule]) -> None:
        local = [rule for rule in rules if rule.span is not None]
        whole = [rule for rule in rules if rule.span is None]
        before = [self._sizes]  # before[i]: the sizes before move i
        position = 0 if local else len(self.moves)
        for _ in range(_MOST_REWRITINGS):
            if position >= len(self.moves):
                if not any(map(self._apply_to_all, whole)):
                    return
                position = 0 if local else len(self.moves)
                del before[1:]
                continue
            while len(before) <= position:
                before.append(self.moves[len(before) - 1].out_sizes(before[-1]))
            if self._apply_at(position, before[position], local):
                position = max(position - 1, 0)
                del before[position + 1 :]
            else:
                position += 1
        raise PlanError(
            f"The plan does not come to an end: {', '.join(sorted(self.fired))} undo each other. "
            "Please report this pipeline; Loader(plan=False) does without the planner."
        )

    def _apply_at(self, position: int, sizes: Sizes, rules: Sequence[Rule]) -> bool:
        for rule in rules:
            window = self.moves[position : position + (rule.span or 0)]
            if len(window) == rule.span and self._apply(rule, position, window, sizes):
                return True
        return False

    def _apply_to_all(self, rule: Rule) -> bool:
        return self._apply(rule, 0, self.moves, self._sizes)

    def _apply(self, rule: Rule, position: int, window: Moves, sizes: Sizes) -> bool:
        key = rule.name, id(sizes.height), id(sizes.width), *map(id, window)
        if key in self._in_vain:
            return False
        moves = rule.rewrite(window, sizes)
        if moves is None:
            self._in_vain[key] = window, sizes
            return False
        self.fired.add(rule.name)
        self._replace(position, len(window), moves)
        return True

    def _replace(self, position: int, count: int, moves: Moves) -> None:
        self.moves = (*self.moves[:position], *moves, *self.moves[position + count :])


class _RewritingOfDraft(_Rewriting):
    """The same with where the moves come from."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft.moves, draft.sizes)
        self.draft = draft

    def _replace(self, position: int, count: int, moves: Moves) -> None:
        super()._replace(position, count, moves)
        self.draft = replace_stages(self.draft, position, count, moves)
