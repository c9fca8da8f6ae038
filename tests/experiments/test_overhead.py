"""What the overhead experiment concludes from measurements, made up here."""

import numpy as np
import pytest

from overhead_samples import journal
from penstock.errors import AnalysisError
from penstock.experiments.findings import Judgement
from penstock.experiments.overhead.claims import judge_claims
from penstock.experiments.overhead.draw import draw
from penstock.experiments.overhead.figures import draw_figures
from penstock.experiments.overhead.results import Results
from penstock.experiments.overhead.settings import (
    DALI,
    PACKED,
    TORCHVISION,
    choose_cores,
    with_layers,
)
from penstock.experiments.overhead.tables import make_tables
from penstock.experiments.overhead.targets import ANY_MODEL, find_targets


def judgements(found):
    return [claim.judgement for claim in judge_claims(Results(found))]


def test_claims_hold_where_figures_say_so():
    assert judgements(journal()) == [Judgement.HOLDS] * 6


def test_a_claim_that_figures_contradict_does_not_hold():
    """Layers that make everything faster, and cores that make it slower."""
    found = judge_claims(
        Results(journal(rate=lambda _, cores, layers: 400 * (1 + layers) / cores**2))
    )

    assert found[2].judgement is Judgement.FAILS
    assert found[3].judgement is Judgement.FAILS
    assert "lost" in found[3].because


def test_nothing_is_claimed_where_nothing_was_compared():
    found = journal(models=["resnet50"], measured_cores=[2], layers=[2])

    assert judgements(found)[1:4] == [Judgement.UNTESTED] * 3


def test_nothing_is_claimed_where_every_accelerator_is_fed():
    found = judge_claims(Results(journal(rate=lambda *_: 1e6)))

    assert {claim.judgement for claim in found[1:4]} == {Judgement.UNTESTED}
    assert "no accelerator lost" in found[1].because


def test_a_cache_of_decoded_images_that_feeds_the_accelerator_depends_on_memory():
    found = journal()
    for one in found.settings["targets"]:
        one["rate"] = 500.0
    for key, value in found.measurements.items():
        if key.startswith("step"):
            value["resident"] = 500.0

    claim = judge_claims(Results(found))[4]
    assert claim.judgement is Judgement.DEPENDS
    assert "769 GB for as many as ImageNet has" in claim.because


def test_cores_that_are_missing_are_predicted():
    results = Results(journal())
    target = results.targets[0]
    basic = with_layers(0)

    assert results.pipeline(TORCHVISION, basic, 2).is_measured
    assert not results.pipeline(TORCHVISION, basic, 8).is_measured
    assert results.pipeline(TORCHVISION, basic, 8).median == pytest.approx(2400)
    assert not results.end_to_end(target, TORCHVISION, basic, 8).is_measured
    assert results.measured(target, TORCHVISION, basic, 8) is None


def test_where_training_starves():
    """2,470 images/s: 8 cores of 300 are too few, and one of 5,000 is enough."""
    results = Results(journal())
    resnet = results.targets[0]

    assert results.is_fed(resnet, PACKED, with_layers(2), 2)
    assert not results.is_fed(resnet, TORCHVISION, with_layers(2), 2)
    assert results.cores_needed(resnet, PACKED, with_layers(0)) == 1
    assert results.cores_needed(resnet, TORCHVISION, with_layers(0)) in {9, 10}
    assert results.layers_borne(resnet, PACKED, 2) == 5
    assert results.layers_borne(resnet, DALI, 2) is None


def test_tables_tell_distinct_photos_and_mark_what_is_predicted():
    tables = make_tables(Results(journal()))

    assert [table.title.split(":")[0] for table in tables] == [
        *("Where training starves", "Synthetic", "Input pipeline only", "End to end", "End to end"),
        "Would a cache do? torchvision, RandAugment N = 2, cores",
    ]
    assert all("64 distinct photos" in table.note for table in tables)
    bound = {(row[0], row[1]): row[4] for row in tables[0].rows}
    assert bound["resnet50 on emulated a100", TORCHVISION] == "input-bound"
    assert bound["resnet50 on emulated a100", PACKED] == "accelerator-bound"
    four = next(row for row in tables[3].rows if row[:2] == ["Basic", "4"])
    assert all(cell.startswith("~") for cell in four[2:])


def test_four_figures_with_predicted_parts_dashed():
    pictures = draw_figures(Results(journal()))

    assert len(pictures) == 4
    assert all("64 distinct photos" in picture.caption for picture in pictures)
    kinds = {row["kind"] for row in pictures[0].spec["data"]["values"]}
    assert kinds == {"measured", "predicted"}
    assert {row["kind"] for row in pictures[2].spec["data"]["values"]} == {"measured"}


def test_a_step_on_the_processor_has_a_table_of_its_own():
    found = journal(devices=["emulated:a100", "cpu"])
    for key in [key for key in found.measurements if key.startswith("rate/0/torch")]:
        if "end_to_end" in found.measurements[key]:
            found.measurements[key]["end_to_end"]["cpu | resnet50"] = 2.0

    titles = [table.title for table in make_tables(Results(found))]
    assert any(title.startswith("Real training on this machine's processor") for title in titles)
    assert not any("End to end: resnet50 on cpu" in title for title in titles)


def test_what_is_missing_is_named_with_its_reason():
    findings = draw(journal())

    assert any("no Population Based Augmentation" in note for note in findings.notes)
    assert any("64 distinct photos" in line for line in findings.setting)
    assert any("emulated" in line for line in findings.setting)


def test_an_unfinished_journal_can_be_drawn():
    whole = journal()
    for count in range(len(whole.measurements)):
        whole.measurements = dict(list(journal().measurements.items())[:count])
        draw(whole)


def test_settings_of_another_version_are_refused():
    found = journal()
    del found.settings["targets"][0]["model"]

    with pytest.raises(AnalysisError, match="does not read"):
        draw(found)


def test_targets_of_devices():
    by_model = find_targets(["emulated:a100"], ["resnet50", "mobilenet_v2"], 1)
    one_model = find_targets(["emulated:titan-rtx/resnet50"], ["mobilenet_v2"], 1)
    by_rate = find_targets(["emulated:2500"], ["resnet50", "mobilenet_v2"], 4)

    assert [target.rate for target in by_model] == [2470, 5039]
    assert [target.model for target in one_model] == ["resnet50"]
    assert [(target.model, target.rate) for target in by_rate] == [(ANY_MODEL, 2500)]
    assert by_rate[0].label.startswith("any model on 4 x emulated")


def test_several_gpus_need_a_kind_of_which_there_are_several():
    with pytest.raises(AnalysisError, match="--gpus 2"):
        find_targets(["cpu"], ["resnet50"], 2)


def test_several_accelerators_take_turns():
    """Steps of a hundred seconds, so that they overlap however slow the machine is."""
    device = find_targets(["emulated:1"], [], 3)[0].open()
    for _ in range(3):
        device.submit(np.zeros((100, 1)))
    begins, ends = zip(*device.busy, strict=True)

    assert max(begins) < min(ends)


@pytest.mark.parametrize(
    ("asked", "usable", "options", "expected"),
    [
        ([1, 2, 4, 8], 4, {}, [1, 2, 4]),
        ([1, 2, 4, 8], 8, {"ends_only": True}, [1, 8]),
        ([4, 8], 2, {}, [2]),
        ([1, 2], 4, {"can_pin": False}, [4]),
    ],
)
def test_cores_that_are_measured(asked, usable, options, expected):
    options = {"can_pin": True, "ends_only": False} | options

    assert choose_cores(asked, usable, **options) == expected
