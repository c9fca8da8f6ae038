"""The time an analysis may take: planned from the pace, kept, and what does not fit is named."""

import numpy as np
import pytest

import analysis_samples
import penstock
from penstock import Loader
from penstock import transforms as T
from penstock.analysis.analyze import without_conclusions
from penstock.analysis.budget import QUICK_S, Budget, Pace, look, plan_rates, rates_s
from penstock.analysis.device import devices as choosing
from penstock.analysis.device.devices import EmulatedDevice, StepDevice, computes_elsewhere
from penstock.analysis.measure import Effort
from penstock.analysis.rate_model import Point, contradiction
from penstock.analysis.subject.subject import Subject, open_subject
from penstock.results.records import Verdict


def pace(images_per_s, *, step_rate=1000.0, step_cores=0.0, start_s=0.3):
    return Pace(start_s, 1 / images_per_s, 1 / step_rate, step_cores, in_flight=4, enough=10)


def planned(how, seconds=QUICK_S, *, batch=64, can_shrink=True, sweeps=True, cores=(1, 2)):
    return plan_rates(how, seconds, cores, batch, can_shrink=can_shrink, sweeps=sweeps)


@pytest.mark.parametrize("images_per_s", [50, 200, 5000])
@pytest.mark.parametrize("batch", [8, 64, 256])
def test_quick_is_kept_by_every_loader_of_50_images_a_second(images_per_s, batch):
    how = pace(images_per_s)
    plan = planned(how, batch=batch)

    took_s = rates_s(how, plan.effort, plan.core_counts, plan.batch_size)
    assert took_s <= 0.45 * QUICK_S


def test_a_step_of_seconds_is_measured_in_small_batches_on_all_cores():
    """ResNet-18 on two cores: ten images per second."""
    slow = pace(2000, step_rate=10.0, step_cores=1.9)
    plan = planned(slow)

    assert plan.core_counts == (2,)
    assert plan.batch_size == 4
    assert rates_s(slow, plan.effort, plan.core_counts, plan.batch_size) < QUICK_S


def test_a_minute_measures_more():
    assert planned(pace(2000), 60.0).effort.rounds == 3
    assert planned(pace(2000), 60.0).core_counts == (1, 2)
    assert planned(pace(2000), 60.0).batch_size == 64


def test_batches_of_a_gpu_keep_their_size():
    assert planned(pace(50), can_shrink=False).batch_size == 64


def test_what_there_is_no_time_for_is_named_and_off_the_plan():
    told = []
    budget = Budget(1.0, lambda *said: told.append(said), planned=5)
    budget.begin("one thing")

    assert budget.allows("a moment", 0.0)
    assert not budget.allows("an hour", 3600.0, measurements=2)
    assert budget.left_out == ["an hour"]
    budget.begin("another")
    assert told == [("one thing", 1, 5), ("another", 2, 3)]


def test_a_first_look_sees_the_pace():
    seen, batch = look(Subject([np.zeros((4, 3, 2, 2))] * 40), EmulatedDevice(1e6))

    assert batch.shape == (4, 3, 2, 2)
    assert seen.image_s > 0
    assert not seen.shares_cores


@pytest.fixture(scope="module")
def photos(make_photos):
    return make_photos(12)


def loader_of(photos):
    return Loader(photos, batch_size=8, transform=T.CenterCrop(32), output="numpy")


def test_batches_are_made_smaller_in_a_copy(photos):
    loader = loader_of(photos)
    with open_subject(loader).with_batch_size(4).open() as smaller:
        assert len(next(iter(smaller))[0]) == 4

    assert loader.batch_size == 8


def test_torch_batches_are_made_smaller_unless_a_sampler_makes_them():
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    numbers = data.TensorDataset(torch.zeros(8, 3, 4, 4))
    with open_subject(data.DataLoader(numbers, batch_size=8)).with_batch_size(2).open() as smaller:
        assert len(next(iter(smaller))[0]) == 2

    own = data.BatchSampler(data.SequentialSampler(numbers), 8, drop_last=False)
    assert open_subject(data.DataLoader(numbers, batch_sampler=own)).with_batch_size(2) is None


def test_no_time_at_all_still_gives_an_analysis_that_says_what_is_missing(photos):
    found = penstock.analyze(loader_of(photos), device="emulated:1000", seconds=0.01)

    assert "rates on fewer cores" in found.left_out
    assert "the slowest files" in found.left_out
    assert found.layers == found.slowest_files == ()
    assert any("batches of 4 instead of 8" in line for line in found.evidence)


def test_no_accelerator_is_assumed_silently(photos, monkeypatch):
    monkeypatch.setattr(choosing, "find_device", lambda: None)
    found = penstock.analyze(loader_of(photos), effort=Effort(1, 0.02), sweeps=False)

    assert found.device == "emulated:1000"
    assert found.assumption == "if your accelerator took 1,000 images/s"
    assert found.assumption in found.sentence.lower() or found.verdict is Verdict.NONE
    assert any("is assumed: no GPU was found here" in line for line in found.evidence)


def test_the_gpu_that_is_there_is_taken(monkeypatch):
    opened = []
    monkeypatch.setattr(choosing, "find_device", lambda: "cuda")
    monkeypatch.setattr(choosing, "open_device", lambda *names: opened.append(names) or "a GPU")

    device, notes = choosing.choose_device(None, None, "resnet18")
    assert (device, opened) == ("a GPU", [("cuda", "resnet18")])
    assert "resnet18 on cuda" in notes[0]


def test_a_step_needs_no_device(monkeypatch):
    monkeypatch.setattr(choosing, "find_device", lambda: pytest.fail("asked for a GPU"))

    assert isinstance(choosing.choose_device(len, None, "resnet18")[0], StepDevice)
    assert computes_elsewhere(EmulatedDevice(1.0))


def test_training_cannot_be_faster_than_its_loader():
    """As it came out while other programs used half of the cores."""
    right = Point(synthetic=1000, pipeline=400, cores=2, step_cpu_s=0.0, end_to_end=410)
    wrong = Point(synthetic=1000, pipeline=210, cores=1, step_cpu_s=0.0, end_to_end=312)

    assert contradiction([right]) == ""
    assert contradiction([wrong], times=1.5) == ""
    assert contradiction([wrong, right]).startswith(
        "on 1 core, 312 images/s end to end came out above the 210 of the pipeline alone"
    )


def test_nothing_is_concluded_on_a_busy_machine():
    found = without_conclusions(analysis_samples.full(), "No verdict: the machine is busy.")

    assert found.verdict is Verdict.NONE
    assert found.sentence == found.banner == "No verdict: the machine is busy."
    assert found.what_ifs == found.advice == found.predictions == found.layers == ()
    assert [rate.cores for rate in found.pipeline] == [2]
    assert found.stall is None
    assert found.ops  # CPU time is the same on a busy machine
