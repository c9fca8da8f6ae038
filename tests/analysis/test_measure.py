import time

import numpy as np
import pytest

from penstock import AnalysisError
from penstock.analysis.device.devices import EmulatedDevice
from penstock.analysis.measure import Effort, measure_step, run_loader

BATCH = (np.zeros((8, 3, 4, 4)), np.zeros(8))


class Paced:
    """Delivers batches at a steady pace, after a pause at the start of an epoch."""

    def __init__(self, batches, every_s, start_s=0.0):
        self.batches, self.every_s, self.start_s = batches, every_s, start_s

    def __iter__(self):
        time.sleep(self.start_s)
        for _ in range(self.batches):
            time.sleep(self.every_s)
            yield BATCH


def test_rate_is_that_of_the_steady_part():
    """With the time to start it would be far below 800."""
    run = run_loader(Paced(1000, 0.01, start_s=0.5), None, seconds=0.8, in_flight=2)

    with_start = run.images / (sum(run.steps.waited) + sum(run.steps.computed))
    assert with_start < run.images_per_s <= 800
    assert not run.is_short


def test_short_epochs_count_whole():
    run = run_loader(Paced(2, 0.001, start_s=0.1), None, seconds=0.3, in_flight=2)

    assert run.is_short
    assert run.start_up_s >= 0.1
    assert run.epoch_s > run.start_up_s
    assert run.images_per_s < 160


def test_device_that_is_slower_decides():
    run = run_loader(Paced(1000, 0.0), EmulatedDevice(400), seconds=0.5, in_flight=2)

    assert run.images_per_s <= 400 * (1 + 1e-9)
    assert len(run.steps.waited) == run.batches == len(run.steps.computed)


def test_very_slow_device_does_not_take_for_ever():
    run = run_loader(Paced(1000, 0.0), EmulatedDevice(40), seconds=0.05, in_flight=50)

    assert run.batches < 20


def test_empty_loader_is_told():
    with pytest.raises(AnalysisError, match="no batches"):
        run_loader([], None, seconds=0.1, in_flight=2)


def test_step_alone_has_at_most_the_rate_of_the_device():
    alone = measure_step(EmulatedDevice(1000), BATCH, Effort(2, 0.2))

    assert 0 < alone.rate.median <= 1000 * (1 + 1e-9)
    assert alone.cpu_s >= 0


@pytest.mark.quiet
def test_step_alone_has_the_rate_of_the_device():
    alone = measure_step(EmulatedDevice(1000), BATCH, Effort(2, 0.2))

    assert alone.rate.median == pytest.approx(1000, rel=0.05)
    assert alone.cpu_s < 1e-3


@pytest.mark.parametrize("images_per_s", [200, 1000])
def test_no_device_trains_faster_than_it_can(images_per_s):
    """What waits in its queue when the clock starts is work that was not done yet."""
    run = run_loader(Paced(1000, 0.0), EmulatedDevice(images_per_s), seconds=0.05, in_flight=1)

    assert run.images_per_s <= images_per_s * (1 + 1e-9)


def test_short_epochs_are_not_repeated_for_the_number_of_batches():
    """With fifty batches in flight, two of an epoch are all there is to see."""
    run = run_loader(Paced(2, 0.01), None, seconds=0.05, in_flight=50)

    assert run.batches < 50
