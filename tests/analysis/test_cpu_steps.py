"""Training steps that compute on the cores that load the data."""

import time

import numpy as np
import pytest

from analysis_samples import measurements
from penstock.analysis.device.devices import EmulatedDevice, StepDevice
from penstock.analysis.measure import Effort, Run, RunsByCores, StepAlone, measure_rates
from penstock.analysis.rate_model import CoreModel, core_points
from penstock.analysis.subject.subject import Subject
from penstock.analysis.what_if import Model, what_ifs
from penstock.results.records import Rate, Steps

BATCH = np.zeros((4, 3, 2, 2))
EFFORT = Effort(rounds=2, seconds=0.02)


def step(rate, cpu_s=1e-2):
    return StepAlone(Rate(rate, rate, rate), cpu_s, BATCH)


def run(rate):
    return Run(8, 2, rate, 0.0, False, None, Steps((), ()))


def compute(batch):
    ends = time.thread_time() + 1e-3
    while time.thread_time() < ends:
        pass


def test_a_step_that_computes_is_measured_on_each_number_of_cores():
    alone = step(100.0)
    measured = measure_rates(
        Subject([BATCH] * 4),
        StepDevice(compute),
        [1],
        EFFORT,
        alone=alone,
        other_workers=None,
        say=lambda _: None,
    )

    assert alone.computes_here
    assert len(measured.steps[1]) == EFFORT.rounds


def test_a_step_that_computes_elsewhere_is_not():
    alone = step(100.0, cpu_s=1e-5)
    measured = measure_rates(
        Subject([BATCH] * 4),
        EmulatedDevice(1e5),
        [1],
        EFFORT,
        alone=alone,
        other_workers=None,
        say=lambda _: None,
    )

    assert measured.steps == {}
    assert measured.step_on(1, alone) is alone


def test_points_take_the_step_of_their_cores():
    measured = RunsByCores(
        pipeline={1: [run(50.0)], 2: [run(90.0)]},
        end_to_end={1: [run(30.0)], 2: [run(60.0)]},
        steps={1: [step(70.0), step(90.0), step(80.0)], 2: [step(150.0)]},
    )

    assert [point.synthetic for point in core_points(step(150.0), measured)] == [80.0, 150.0]


def test_more_cores_make_the_step_faster_too():
    facts = measurements(100.0, 1000.0, 90.0, batches=50, worker_kind="threads")
    model = Model(CoreModel(0.0, 2e-3), step_cpu_s=2e-2, overlap=8.0, steps=CoreModel(0.0, 2e-2))
    found = {change.change: change for change in what_ifs(facts, model)}

    assert found["4 cores"].gain == pytest.approx(2.0)
    assert not any("feed" in change for change in found)


def test_torch_has_as_many_threads_as_there_are_cores():
    torch = pytest.importorskip("torch")
    from penstock.usable_cores import pinned_to

    before = torch.get_num_threads()
    with pinned_to(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
