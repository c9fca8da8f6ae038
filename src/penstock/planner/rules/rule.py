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

from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.transforms.moves import Move

Moves = tuple[Move, ...]


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
    """A rewriting of `span` moves that follow each other.

    `rewrite` gets these moves and the sizes of the images before them. It returns what replaces
    them, or None where there is nothing to gain. Rules are applied until none changes anything, so
    each one must leave moves to which it does not apply again.
    """

    name: str
    fidelity: Fidelity
    rewrite: Callable[[Moves, Sizes], Moves | None]
    span: int = 2
    bound: Bound | None = None

    @property
    def summary(self) -> str:
        """The first line of the rule's explanation."""
        return (self.rewrite.__doc__ or "").strip().partition("\n")[0]


# More than any pipeline needs: beyond it, two rules undo each other's work.
_MOST_REWRITINGS = 10_000


def rewrite_moves(
    moves: Sequence[Move], sizes: Sizes, rules: Iterable[Rule]
) -> tuple[Moves, frozenset[str]]:
    """Apply `rules` until nothing changes; return the moves, and the names of rules that fired."""
    rules = tuple(rules)
    now = list(moves)
    before = [sizes]  # before[i]: the sizes before move i
    fired: set[str] = set()
    position = count = 0
    while position < len(now):
        while len(before) <= position:
            before.append(now[len(before) - 1].out_sizes(before[-1]))
        for rule in rules:
            window = tuple(now[position : position + rule.span])
            replacement = (
                rule.rewrite(window, before[position]) if len(window) == rule.span else None
            )
            if replacement is not None:
                break
        else:
            position += 1
            continue
        fired.add(rule.name)
        now[position : position + rule.span] = replacement
        position = max(position - 1, 0)
        del before[position + 1 :]
        count += 1
        if count > _MOST_REWRITINGS:
            raise TransformError(
                f"The plan does not come to an end: {', '.join(sorted(fired))} undo each other. "
                "Please report this pipeline; Loader(plan=False) does without the planner."
            )
    return tuple(now), frozenset(fired)
