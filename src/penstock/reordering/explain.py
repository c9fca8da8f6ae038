"""`penstock.explain`: what a better order alone would bring, measured in torchvision."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from penstock.costs.ops import is_dataset, is_pipeline
from penstock.errors import PenstockError
from penstock.planner.rules.rule import Fidelity
from penstock.reordering.as_code import as_code
from penstock.reordering.explanation import Explanation, Offer, Swap, Variant
from penstock.reordering.inputs import Inputs, inputs_of_dataset, inputs_of_files
from penstock.reordering.rules import RULES, OrderRule, Pair, choose_rules, is_comparable
from penstock.reordering.steps import Step, read_steps
from penstock.reordering.trials import Times, Trials, is_worth_having
from penstock.translation.dataloader import is_data_loader
from penstock.translation.transforms.identify import torchvision_generation
from penstock.translation.transforms.pipeline import random_numbers_kept
from penstock.usable_cores import library_threads

_FETCHING_SHARE = 0.25  # of the seconds, for each of two times that samples are fetched
_Found = tuple[tuple[Step, ...], tuple[Swap, ...]]


def explain(
    loader: Any,
    *,
    images: Any = None,
    fidelity: str = "exact",
    allow: Collection[str] = (),
    samples: int = 16,
    seconds: float = 6.0,
) -> Explanation:
    """Find a better order of torchvision's transforms, and measure both orders in torchvision.

    Only the order of your own ops changes, none of them is replaced. Ops that penstock does not
    know, such as your own functions, stay where they are, and nothing is moved past them. Returns
    an `Explanation`: print it, or take its `code`, the new list ready to paste.

    Args:
        loader: A torch DataLoader or a Dataset that holds a Compose of torchvision (v1 or v2); or
            such a Compose itself, with `images`.
        images: For a Compose: a folder, a list of files, or a list of images as it takes them.
        fidelity: `exact` moves ops only where the same results come out, to the last bit, each as
            likely as before; `fast` also where values differ by some levels. What was not asked for
            is measured too, and offered.
        allow: Names of further rules to use, as offers name them.
        samples: On how many images to measure, at most.
        seconds: About how long to take.
    """
    rules = choose_rules(fidelity, allow)
    with random_numbers_kept(), library_threads(1):
        inputs = _inputs(loader, images, samples, seconds)
    return explain_inputs(Trials(inputs), rules, (1 - 2 * _FETCHING_SHARE) * seconds)


def explain_inputs(trials: Trials, rules: Sequence[OrderRule], seconds: float) -> Explanation:
    """Return what the rules bring, and what further ones would."""
    inputs = trials.inputs
    written = read_steps(inputs.pipeline)
    if trials.images(written) is None:
        _fail(trials, written)
    taken = find_order(trials, written, rules)
    found: dict[tuple[Step, ...], tuple[Swap, ...]] = {written: (), taken[0]: taken[1]}
    for more in _further_rules(rules):
        order, swaps = find_order(trials, written, (*rules, *more))
        found.setdefault(order, swaps)
    times = dict(zip(found, trials.race(list(found), seconds), strict=True))
    variants = {
        steps: _variant(trials, steps, swaps, times[steps]) for steps, swaps in found.items()
    }
    as_written, reordered = variants.pop(written), variants.pop(taken[0], None)
    best = as_written if reordered is None else reordered
    offers = [
        Offer(_asking_for(variant.swaps, rules), variant)
        for variant in variants.values()
        if is_worth_having(best.times.speed_up(variant.times))
        and is_worth_having(as_written.times.speed_up(variant.times))
    ]
    return Explanation(
        inputs.what,
        as_written,
        reordered,
        tuple(offers),
        len(inputs.arguments),
        inputs.calls_per_sample,
        None if inputs.sample_s is None else inputs.sample_s * 1e3,
        inputs.others,
    )


def find_order(trials: Trials, written: tuple[Step, ...], rules: Sequence[OrderRule]) -> _Found:
    """Let ops change places until no rule applies; return the order, and what was moved."""
    order, swaps = written, list[Swap]()
    refused: set[tuple[int, int]] = set()  # pairs that fail the other way round
    place = 0
    while place + 1 < len(order):
        numbers = order[place].number, order[place + 1].number
        pair = _pair_at(trials, order, place)
        rule = next((rule for rule in rules if rule.applies(pair)), None)
        if rule is None or numbers in refused:
            place += 1
            continue
        other = (*order[:place], order[place + 1], order[place], *order[place + 2 :])
        if trials.images(other) is None:
            refused.add(numbers)
            continue
        difference = trials.difference(order, place) if is_comparable(rule, pair) else None
        swaps.append(Swap(rule, order[place + 1].name, order[place].name, difference))
        order = other
        place = max(place - 1, 0)
        if len(swaps) > len(written) ** 2:
            raise PenstockError("explain: rules undo each other. Please report this list.")
    return order, tuple(swaps)


def _pair_at(trials: Trials, order: tuple[Step, ...], place: int) -> Pair:
    met = trials.images(order)
    if met is None:
        raise PenstockError("explain: the list fails in an order that was tried before.")
    before, between, after = met[place : place + 3]
    has_targets = trials.inputs.has_targets
    return Pair(order[place], order[place + 1], before, between, after, has_targets)


def _further_rules(rules: Sequence[OrderRule]) -> Iterator[list[OrderRule]]:
    """Yield what could be allowed beyond these rules: all fast ones, each relaxed one, all."""
    left = [rule for rule in RULES if rule not in rules]
    yield [rule for rule in left if rule.fidelity is Fidelity.FAST]
    yield from ([rule] for rule in left if rule.fidelity is Fidelity.RELAXED)
    yield left


def _asking_for(swaps: Sequence[Swap], rules: Sequence[OrderRule]) -> str:
    """Return the arguments that allow these swaps where only `rules` were allowed."""
    more = dict.fromkeys(swap.rule for swap in swaps if swap.rule not in rules)
    relaxed = [rule.name for rule in more if rule.fidelity is Fidelity.RELAXED]
    is_fast = any(rule.fidelity is Fidelity.FAST for rule in more)
    allow = ", ".join(f'"{name}"' for name in relaxed) + ("," if len(relaxed) == 1 else "")
    words = ['fidelity="fast"'] * is_fast + [f"allow=({allow})"] * bool(relaxed)
    return ", ".join(words)


def _variant(
    trials: Trials, steps: tuple[Step, ...], swaps: tuple[Swap, ...], times: Times
) -> Variant:
    met = trials.images(steps)
    generation = torchvision_generation(trials.inputs.pipeline)
    if generation is None:
        found = [torchvision_generation(step.op) for step in steps]
        generation = 2 if 2 in found else 1
    return Variant(steps, met or (), swaps, times, as_code(steps, generation))


def _inputs(loader: Any, images: Any, samples: int, seconds: float) -> Inputs:
    if is_data_loader(loader):
        return inputs_of_dataset(loader.dataset, samples, _FETCHING_SHARE * seconds)
    if is_pipeline(loader):
        return inputs_of_files(loader, images, samples)
    if is_dataset(loader):
        return inputs_of_dataset(loader, samples, _FETCHING_SHARE * seconds)
    raise PenstockError(
        f"explain: needs a torch DataLoader, a Dataset or a Compose of torchvision, got "
        f"{type(loader).__name__}."
    )


def _fail(trials: Trials, written: tuple[Step, ...]) -> None:
    """Say which op fails on these images as the list is written."""
    for count in range(1, len(written) + 1):
        if trials.images(written[:count]) is None:
            raise PenstockError(
                f"explain: {written[count - 1].name}, op {count} of the list, fails on these "
                "images, or gives none. Check that the list works on them."
            )
