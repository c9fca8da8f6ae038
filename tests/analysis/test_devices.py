import time

import numpy as np
import pytest

from penstock import AnalysisError
from penstock.analysis.device.devices import EmulatedDevice, StepDevice, open_device

BATCH = (np.zeros((10, 3, 4, 4)), np.zeros(10))


def test_emulated_device_is_busy_for_the_right_time():
    device = EmulatedDevice(1000)
    for _ in range(5):
        device.submit(BATCH)
    device.synchronise()

    assert [end - begin for begin, end in device.busy] == pytest.approx([0.01] * 5)


def test_emulated_steps_never_overlap():
    device = EmulatedDevice(2000)
    for _ in range(5):
        device.submit(BATCH)

    for (_, end), (begin, _) in zip(device.busy, device.busy[1:], strict=False):
        assert begin >= end


def test_emulated_device_returns_before_its_step_is_over():
    """As a GPU does: only a full queue makes the training loop wait."""
    device = EmulatedDevice(0.1)
    device.submit(BATCH)
    device.submit(BATCH)

    assert device.busy[-1][1] > time.perf_counter()


def test_full_queue_waits_for_the_oldest_step():
    device = EmulatedDevice(1000, queue_depth=1)
    device.submit(BATCH)
    device.submit(BATCH)

    assert device.busy[0][1] <= time.perf_counter()


def test_emulated_device_uses_no_cpu():
    device = EmulatedDevice(100)
    before = time.process_time()
    for _ in range(3):
        device.submit(BATCH)
    device.synchronise()

    assert time.process_time() - before < device.busy[-1][1] - device.busy[0][0]


def test_forgets_intervals():
    device = EmulatedDevice(1e6)
    device.submit(BATCH)
    device.forget()

    assert device.busy == ()


def test_step_of_the_user_is_called_with_batches():
    seen = []
    device = StepDevice(seen.append)
    device.submit(BATCH)
    device.synchronise()

    assert seen == [BATCH]
    assert len(device.busy) == 1


@pytest.mark.parametrize("name", ["emulated:", "emulated:x", "emulated:0", "emulated:-3", "tpu"])
def test_bad_device_is_refused(name):
    with pytest.raises(AnalysisError, match="emulated:1000"):
        open_device(name)


def test_device_is_read_from_its_name():
    device = open_device("emulated:2,500")

    assert device.name == "emulated:2500"
    assert device.is_emulated
