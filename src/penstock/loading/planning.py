"""Plans a loader's work: looks at some of its samples, and lets the planner choose rules.

Only sizes are read, from the index of a packed file or the headers of image files, and only to see
what rules would save. A plan holds for every sample, whether it was looked at or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
import PIL.Image

from penstock.errors import TransformError
from penstock.geometry import Floats, Ints, Sizes
from penstock.loading.options import RunOptions
from penstock.planner.draft import Draft
from penstock.planner.plan import Plan
from penstock.planner.rules.rule import Fidelity, Rule
from penstock.planner.search import choose, fired_rules, permitted
from penstock.sources import Source

# Enough for sizes and draws to speak for the whole data set, few enough to be read in no time.
_PROBED = 48

# Sizes of all kinds, to see which rules could apply before any file is opened.
_ANY_SIZES = Sizes(
    np.tile(np.array([375, 500, 32, 1080, 3000, 600], dtype=np.int64), 8),
    np.tile(np.array([500, 333, 32, 1920, 5000, 600], dtype=np.int64), 8),
)


@dataclass(frozen=True, slots=True)
class Probe:
    """Some samples of a data set: their sizes, and what was drawn for each of them."""

    samples: Ints
    sizes: Sizes
    drafts: tuple[Draft, ...]  # one for each segment of the plan


def choose_rules(source: Source, plan: Plan, options: RunOptions, seed: int) -> tuple[Rule, ...]:
    """The rules that a loader's work is planned with."""
    if not options.plan:
        return ()
    rules = permitted(Fidelity(options.fidelity), options.allow)
    try:
        drafts = _draw(plan, seed, np.arange(len(_ANY_SIZES)), _ANY_SIZES)
        fired = fired_rules(drafts, rules)
        if all(rule.free for rule in fired):
            return fired
    except TransformError:
        pass  # an op refuses one of these sizes, which the data set need not have
    try:
        return choose(probe(source, plan, seed).drafts, rules, price).rules
    except TransformError:
        return ()  # the batch with the sample that an op refuses says so


def choose_view_rules(
    source: Source, plan: Plan, options: RunOptions, seed: int
) -> tuple[tuple[Rule, ...], ...]:
    """The rules of each view, chosen as for a pipeline of its own; equal views share them."""
    known: list[tuple[list[object], tuple[Rule, ...]]] = []
    chosen: list[tuple[Rule, ...]] = []
    for view in plan.views:
        ops: list[object] = [node.op for segment in view.segments for node in segment.ops]
        rules = next((rules for same, rules in known if same == ops), None)
        if rules is None:
            rules = choose_rules(source, view, options, seed)
            known.append((ops, rules))
        chosen.append(rules)
    return tuple(chosen)


def probe(source: Source, plan: Plan, seed: int) -> Probe:
    """Look at samples that lie evenly over the data set."""
    wanted = np.unique(np.linspace(0, max(len(source) - 1, 0), _PROBED).astype(np.int64))
    known = {sample: _size_of(source, sample) for sample in wanted.tolist() if sample < len(source)}
    found = {sample: size for sample, size in known.items() if size is not None}
    if not found:  # whoever loads the samples is told what is wrong with them
        samples, sizes = np.arange(len(_ANY_SIZES)), _ANY_SIZES
    else:
        samples = np.array(list(found), dtype=np.int64)
        sizes = Sizes(*np.array(list(found.values()), dtype=np.int64).T)
    return Probe(samples, sizes, _draw(plan, seed, samples, sizes))


def _draw(plan: Plan, seed: int, samples: Ints, sizes: Sizes) -> tuple[Draft, ...]:
    """Drafts of all segments; a function of the user's between two is taken to keep sizes."""
    drafts: list[Draft] = []
    for segment in plan.segments:
        drafts.append(segment.draft(seed, 0, samples, sizes))
        sizes = drafts[-1].sizes_along()[-1]
    return tuple(drafts)


class _Sized(Protocol):
    def image_size(self, index: int) -> tuple[int, int]: ...


def _has_sizes(source: object) -> TypeGuard[_Sized]:
    return callable(getattr(source, "image_size", None))


def _size_of(source: Source, sample: int) -> tuple[int, int] | None:
    try:
        if _has_sizes(source):
            return source.image_size(sample)
        with source.open(sample) as file, PIL.Image.open(file) as image:
            return image.height, image.width
    except Exception:  # noqa: BLE001 (a source may be the user's own)
        return None


def price(draft: Draft) -> Floats:
    """How many pixels all stages write."""
    pixels: Floats = np.zeros(len(draft.sizes))
    for sizes in draft.sizes_along():
        pixels += sizes.height * sizes.width
    return pixels
