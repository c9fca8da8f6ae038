"""`penstock.explain`: what a better order alone would bring, measured in torchvision."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, overload

from penstock.costs.ops import is_dataset, is_pipeline
from penstock.costs.plan_costs import explain_measured
from penstock.errors import PenstockError
from penstock.loading.loader import Loader
from penstock.planner.explain import Explanation as PlanExplanation
from penstock.planner.rules.rule import Fidelity
from penstock.reordering.as_code import as_code
from penstock.reordering.explanation import Offer, OrderExplanation, Swap, Variant
from penstock.reordering.inputs import Inputs, inputs_of_dataset, inputs_of_files
from penstock.reordering.pairs import Pair
from penstock.reordering.rules import RULES, OrderRule, choose_rules, is_comparable
from penstock.reordering.steps import Step, read_steps
from penstock.reordering.trials import Times, Trials, is_worth_having
from penstock.translation.dataloader import is_data_loader
from penstock.translation.delivery import AcceleratedLoader
from penstock.translation.transforms.identify import torchvision_generation
from penstock.translation.transforms.pipeline import random_numbers_kept
from penstock.usable_cores import library_threads

SAMPLES, SECONDS = 16, 6.0
_FETCHING_SHARE = 0.25  # of the seconds, for each of two times that samples are fetched
_Found = tuple[tuple[Step, ...], tuple[Swap, ...]]


@overload
def explain(loader: Loader, *, measure: bool = False) -> PlanExplanation: ...


@overload
def explain(
    loader: Any,
    *,
    images: Any = None,
    fidelity: str = "exact",
    allow: Collection[str] = (),
    samples: int = SAMPLES,
    seconds: float = SECONDS,
) -> OrderExplanation: ...


def explain(
    loader: Any,
    *,
    measure: bool = False,
    images: Any = None,
    fidelity: str = "exact",
    allow: Collection[str] = (),
    samples: int = SAMPLES,
    seconds: float = SECONDS,
) -> PlanExplanation | OrderExplanation:
    """Say in which order work is better done, and what that saves.

    Of a torch DataLoader, the transforms of torchvision are looked at: a better order of your own
    ops is found, and both orders are measured in torchvision. No op is replaced. Ops that penstock
    does not know, such as your own functions, stay where they are, and nothing is moved past them.
    Print what is returned, or take its `code`, the new list ready to paste.

    Of a penstock Loader, this is `Loader.explain()`: its plan, with what each rule saves.

    Args:
        loader: A torch DataLoader or a Dataset that holds a Compose of torchvision (v1 or v2); or
            such a Compose itself, with `images`. Or a penstock Loader.
        measure: For a Loader: also measure what the rules save. Orders of torchvision's transforms
            are always measured.
        images: For a Compose: a folder, a list of files, or a list of images as it takes them.
        fidelity: `exact` moves ops only where the same results come out, to the last bit, each as
            likely as before; `fast` also where values differ by some levels. What was not asked for
            is measured too, and offered.
        allow: Names of further rules to use, as offers name them.
        samples: On how many images to measure, at most.
        seconds: About how long to take.
    """
    if not isinstance(loader, (Loader, AcceleratedLoader)):
        return explain_order(
            loader, images=images, fidelity=fidelity, allow=allow, samples=samples, seconds=seconds
        )
    given = (images, fidelity, tuple(allow), samples, seconds)
    if given != (None, "exact", (), SAMPLES, SECONDS):
        raise PenstockError(
            "explain: images, fidelity, allow, samples and seconds are for torchvision's "
            "transforms. A Loader has its own data, fidelity and allow; leave them out here."
        )
    if not measure:
        return loader.explain()
    if not isinstance(loader, Loader):
        raise PenstockError(
            "explain: measure=True needs a Loader; of what accelerate returned, savings are only "
            "predicted. Leave measure out."
        )
    return explain_measured(loader)


def explain_order(
    loader: Any,
    *,
    images: Any = None,
    fidelity: str = "exact",
    allow: Collection[str] = (),
    samples: int = SAMPLES,
    seconds: float = SECONDS,
    relaxed: bool = True,
) -> OrderExplanation:
    """Find a better order of torchvision's transforms, and measure both; see `explain`.

    `relaxed` is whether to offer also what relaxed rules bring.
    """
    rules = choose_rules(fidelity, allow)
    with random_numbers_kept(), library_threads(1):
        inputs = _inputs(loader, images, samples, seconds)
    left_s = (1 - 2 * _FETCHING_SHARE) * seconds
    return explain_inputs(Trials(inputs), rules, left_s, relaxed=relaxed)


def explain_inputs(
    trials: Trials, rules: Sequence[OrderRule], seconds: float, *, relaxed: bool = True
) -> OrderExplanation:
    """Return what the rules bring, and what further ones would."""
    inputs = trials.inputs
    written = read_steps(inputs.pipeline)
    if trials.images(written) is None:
        _fail(trials, written)
    taken = find_order(trials, written, rules)
    found: dict[tuple[Step, ...], tuple[Swap, ...]] = {written: (), taken[0]: taken[1]}
    for more in _further_rules(rules, relaxed=relaxed):
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
    return OrderExplanation(
        inputs.what,
        inputs.pipeline,
        as_written,
        reordered,
        tuple(offers),
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
        if pair.first.is_declared and trials.difference(order, place).most:
            raise PenstockError(
                f"explain: {pair.first.name} is declared per_pixel, but makes something else of a "
                "part of an image than of that part in the whole. Leave out @penstock.per_pixel."
            )
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


def _further_rules(rules: Sequence[OrderRule], *, relaxed: bool) -> Iterator[list[OrderRule]]:
    """Yield what could be allowed beyond these rules: all fast ones, each relaxed one, all."""
    left = [rule for rule in RULES if rule not in rules]
    yield [rule for rule in left if rule.fidelity is Fidelity.FAST]
    if relaxed:
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
        f"explain: needs a torch DataLoader, a Dataset or a Compose of torchvision, or a penstock "
        f"Loader, got {type(loader).__name__}."
    )


def _fail(trials: Trials, written: tuple[Step, ...]) -> None:
    """Say which op fails on these images as the list is written."""
    for count in range(1, len(written) + 1):
        if trials.images(written[:count]) is None:
            raise PenstockError(
                f"explain: {written[count - 1].name}, op {count} of the list, fails on these "
                "images, or gives none. Check that the list works on them."
            )
