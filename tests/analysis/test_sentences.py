"""What is said must be true for every input that can produce it: made-up figures, read aloud."""

from dataclasses import replace

import pytest

from analysis_samples import measurements
from penstock.analysis.advice import ACCELERATE, ACCELERATE_NEAR, ORDER, advise
from penstock.analysis.rate_model import CoreModel
from penstock.analysis.verdict import judge
from penstock.analysis.what_if import Change, Model, what_ifs
from penstock.costs.costs import Cost, Costs
from penstock.results.records import Verdict


def cost(kind, name, ms, runs_in="Pillow"):
    return Cost(kind, name, ms / 1e3, runs_in)


PARTS = (
    cost("read", "waiting for data", 0.1, "disk"),
    cost("decode", "decode", 4),
    cost("own", "the data set's own code", 0.5, "Python"),
    cost("augment", "ColorJitter", 3),
    cost("augment", "RandomResizedCrop", 2),
    cost("collate", "collate", 0.4, "torch"),
)
FACTS = measurements(1000, 200, 195, costs=Costs(PARTS))
EMULATED = replace(FACTS, emulated_rate=1000.0)
ON_CPU = replace(
    FACTS,
    synthetic=100.0,
    pipeline=400.0,
    end_to_end=75.0,
    computes_here=True,
    step_cores=1.9,
    instant_between=(1.25, 1.42),
)
MODEL = Model(CoreModel(0.0, 1 / 100), step_cpu_s=0.0, overlap=8.0)
SHARED = replace(MODEL, steps=CoreModel(0.0, 1 / 50), shared=4 / 3)


def with_parts(facts, *parts):
    kinds = {part.name for part in parts}
    return replace(facts, costs=Costs(tuple(one for one in PARTS if one.name not in kinds) + parts))


def said(facts, model=MODEL, changes=()):
    """Everything that is told of some facts, as one text."""
    finding = judge(facts)
    thought = what_ifs(facts, model, changes)
    advice = advise(finding.verdict, facts, model, thought)
    lines = [finding.sentence, *(one.change for one in thought)]
    return "\n".join([*lines, *(f"{one.title}: {one.why}" for one in advice)])


def titles(facts, model=MODEL, changes=()):
    verdict = judge(facts).verdict
    return {
        one.title: one for one in advise(verdict, facts, model, what_ifs(facts, model, changes))
    }


def test_the_headline_names_the_longest_bar():
    """All transforms together take more than decoding, and none of them as much."""
    finding = judge(FACTS)

    assert finding.verdict is Verdict.DECODE
    assert "decoding the longest part of it: 40%" in finding.sentence
    assert "all transforms together: 51%" in finding.sentence


def test_the_data_sets_own_code_is_not_augmenting():
    own = cost("own", "the data set's own code", 20, "Python")
    finding = judge(with_parts(FACTS, own))

    assert finding.verdict is Verdict.OWN_CODE
    assert finding.sentence.startswith("The data set's own code (__getitem__ without")
    assert "ugment" not in finding.sentence


def test_a_long_wait_that_is_not_most_of_it_is_still_the_longest_bar():
    finding = judge(with_parts(FACTS, cost("read", "waiting for data", 5, "disk")))

    assert finding.verdict is Verdict.READ


@pytest.mark.parametrize("end_to_end", [195.0, 960.0])
def test_a_rate_that_nobody_measured_is_a_condition_in_every_sentence(end_to_end):
    facts = replace(EMULATED, end_to_end=end_to_end)
    sentence = judge(facts).sentence

    assert "if your accelerator took 1,000 images/s, it would" in sentence.lower()
    assert "the accelerator waits" not in sentence
    assert "the accelerator: 1,000 images/s, assumed, not measured" in judge(facts).evidence


def test_faster_accelerators_have_rates_where_one_is_assumed():
    assert "an accelerator of 2,000 images/s" in said(EMULATED)
    assert "an accelerator 2 times as fast" in said(FACTS)


def test_a_step_on_the_loaders_cores_gains_by_a_cheaper_loader():
    finding = judge(ON_CPU)

    assert finding.verdict is Verdict.ACCELERATOR
    assert "computes on 1.9 of the 2 cores itself" in finding.sentence
    assert "would make training 1.33 times as fast (between 1.25 and 1.42" in finding.sentence
    assert "Leave the input pipeline" not in said(ON_CPU, SHARED)


def test_a_single_round_has_no_range():
    assert "measured once" in judge(replace(ON_CPU, instant_between=None)).sentence


def test_a_loader_of_half_the_cost_gives_half_of_what_it_takes():
    """At 100 images/s alone and 75 with loading, half of the loading leaves 85.7."""
    forms = [Change(ACCELERATE, 800.0)]
    gained = titles(ON_CPU, SHARED, forms)["Let penstock run this DataLoader"]

    assert gained.gain == pytest.approx(85.7 / 75, rel=1e-3)
    assert "800 images/s instead of 400" in gained.why


def test_a_slow_loader_on_shared_cores_is_named_with_what_it_costs():
    facts = replace(ON_CPU, pipeline=120.0, end_to_end=50.0)
    finding = judge(facts)

    assert finding.verdict is Verdict.DECODE
    assert "the training step computes on the same cores" in finding.sentence


def test_the_crop_is_not_moved_behind_itself_nor_left_out():
    crop = cost("augment", "RandomResizedCrop", 20)
    text = said(with_parts(FACTS, crop))

    assert "without RandomResizedCrop" not in text
    assert "fewer pixels" not in text
    assert not any("RandomResizedCrop" in title for title in titles(with_parts(FACTS, crop)))


def test_the_gain_of_another_order_is_that_of_the_loader_in_that_order():
    order = Change(ORDER, 1.5 * FACTS.pipeline, note="A before B (exact)", line="Compose([\n])")
    advice = titles(FACTS, changes=(order,))["Put the transforms into another order"]

    assert advice.gain == pytest.approx(1.5, rel=0.01)
    assert advice.line == "Compose([\n])"
    assert advice.why.startswith("Only the order of your own ops changes: A before B (exact). ")
    assert "in turn with the order as it is" in advice.why


def test_an_order_that_was_not_measured_is_not_advised():
    assert not any("order" in title for title in titles(FACTS))


def test_without_a_measurement_there_is_no_number_for_an_op():
    advice = titles(FACTS)["Use ColorJitter on fewer images, or a cheaper op"]

    assert advice.gain is None
    assert "If it cost nothing, training would be 1.43 times as fast" in advice.why


def test_a_function_of_the_users_is_not_left_out():
    facts = with_parts(FACTS, cost("augment", "by_hand", 20, "Python"))

    assert "without by_hand" not in said(facts)
    assert titles(facts)["Make by_hand cheaper"].gain is None


@pytest.mark.parametrize(
    "changes", [{"keeps_workers": True}, {"workers": 0}, {"worker_kind": "threads"}]
)
def test_workers_that_are_kept_already_are_not_advised_to_be(changes):
    facts = replace(FACTS, start_up_s=0.9, epoch_s=1.0, **changes)

    assert judge(facts).verdict is Verdict.START_UP
    assert "Keep the workers" not in said(facts)


def test_collate_is_not_replaced_by_one_that_drops_its_work():
    facts = with_parts(FACTS, cost("collate", "collate", 20, "Python"))
    advice = titles(facts)["Make collate_fn cheaper"]

    assert judge(facts).verdict is Verdict.COLLATE
    assert (advice.gain, advice.line) == (None, "")


def test_what_is_only_near_is_offered_with_its_bound_and_gain():
    near = Change(ACCELERATE_NEAR, 2000.0, note="GaussianBlur, within a level here and there")
    advice = titles(FACTS, changes=[near])[
        "Let penstock run this DataLoader, pixels not quite the same"
    ]

    assert advice.line == "loader = penstock.accelerate(loader, strict=False)"
    assert "GaussianBlur, within a level here and there. Measured here" in advice.why
    assert advice.gain > 4


def test_cores_are_not_predicted_from_one_number_of_them():
    text = said(FACTS, replace(MODEL, knows_scaling=False))

    assert " cores" not in text


def test_too_few_workers_that_could_not_be_measured_are_said_to_be():
    facts = replace(FACTS, cores=4, workers=1, other_workers=4, other_gain=0.9, other_spread=2.0)

    assert "could not be measured" in judge(facts).sentence
    assert "loaded in the training process itself" in judge(replace(FACTS, workers=0)).sentence


def test_one_core_is_not_written_in_the_plural():
    facts = replace(FACTS, cores=1, workers=1)

    assert "1 cores" not in said(facts)
    assert "the pipeline alone on 1 core: 200 images/s" in judge(facts).evidence
