import sys

import numpy as np
import pytest

from penstock.analysis.device.devices import EmulatedDevice
from penstock.analysis.device.utilisation import (
    cut_into_slices,
    one_after_the_other,
    watch_device,
)
from tests.fake_nvml import FakeNvml


def test_intervals_are_cut_into_slices():
    found = cut_into_slices("steps", [(10.0, 11.0), (13.0, 16.0)])

    assert found.seconds[-1] == pytest.approx(6)
    assert (found.busy[0], found.busy[25], found.busy[-1]) == pytest.approx((1, 0, 1))
    assert sum(found.busy) / len(found.busy) == pytest.approx(4 / 6)
    assert cut_into_slices("steps", []) is None


def test_steps_queue_behind_each_other():
    assert one_after_the_other([0.0, 1.0, 10.0], 2.0) == [(0.0, 2.0), (2.0, 4.0), (10.0, 12.0)]


def test_only_steps_of_the_watched_run_count():
    device = EmulatedDevice(1e6)
    device.submit(np.zeros((2, 1)))
    with watch_device(device, 1.0) as watched:
        device.submit(np.zeros((2, 1)))

    assert len(device.busy) == 1
    assert watched.utilisation.source == "steps of the emulated:1e+06 device"


def gpu_stand_in(gpu):
    """A TorchDevice without the GPU: asynchronous, so it knows only when steps began."""
    from penstock.analysis.device.devices import TorchDevice

    class StandIn(TorchDevice):
        busy = ()
        submitted = (1.0, 2.0, 3.0)

        def __init__(self):
            self.name, self._busy = "stand-in", []

    StandIn.gpu = gpu
    return StandIn()


def test_gpu_without_a_driver_is_told_by_its_steps():
    with watch_device(gpu_stand_in(None), 0.5) as watched:
        pass

    assert "each as long as it takes alone" in watched.utilisation.source
    assert watched.notes == ()


def test_gpu_with_a_driver_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml())
    with watch_device(gpu_stand_in(0), 0.5) as watched:
        pass

    assert watched.utilisation.source == "NVML"


def test_gpu_without_the_library_is_noted_and_told_by_its_steps(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with watch_device(gpu_stand_in(0), 0.5) as watched:
        pass

    assert watched.utilisation is not None
    assert "nvidia-ml-py" in watched.notes[0]
