"""How busy a GPU is: there is none here, so a stand-in for its driver answers."""

import sys
import types

import pytest

from penstock.results.records import Verdict
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.nvml import gpu_of_torch, watch_gpu
from penstock.watching.report import summarise
from penstock.watching.sampling import Sampling
from penstock.watching.step_times import StepTimes
from tests.fake_nvml import FakeNvml


@pytest.mark.parametrize(("gpu", "found_by"), [("GPU-1234", "by uuid"), (1, "by index")])
def test_gpu_is_sampled_through_its_driver(gpu, found_by, monkeypatch):
    library = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    with watch_gpu(gpu) as watch:
        pass

    found = watch.utilisation()
    assert watch.note is None
    assert (found.source, found.busy[0]) == ("NVML", 0.4)
    assert library.calls[:2] == ["init", found_by]
    assert library.calls[-1] == "shutdown"


@pytest.mark.parametrize("call", ["init", "by index", "rates"])
def test_driver_that_does_not_answer_is_noted(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(fails={call}))
    with watch_gpu(0) as watch:
        pass

    assert watch.utilisation() is None
    assert "Driver Not Loaded" in watch.note


def test_missing_library_is_noted(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with watch_gpu(0) as watch:
        pass

    assert watch.utilisation() is None
    assert "penstock[nvml]" in watch.note


class FakeTorch(types.ModuleType):
    """A torch that uses the second of the GPUs that it sees."""

    def __init__(self, uuid="1234", *, is_initialized=True):
        super().__init__("torch")
        self.cuda = types.SimpleNamespace(
            is_initialized=lambda: is_initialized,
            current_device=lambda: 1,
            get_device_properties=lambda _: types.SimpleNamespace(uuid=uuid),
        )


def test_gpu_of_torch_is_found(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", FakeTorch())
    assert gpu_of_torch() == "GPU-1234"
    monkeypatch.setitem(sys.modules, "torch", FakeTorch(uuid=None))
    assert gpu_of_torch() == 1
    monkeypatch.setitem(sys.modules, "torch", FakeTorch(is_initialized=False))
    assert gpu_of_torch() is None
    monkeypatch.delitem(sys.modules, "torch")
    assert gpu_of_torch() is None


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Look at a loop some times, and report; the sampler's own thread stays out of it."""

    def watch(library, torch):
        monkeypatch.setitem(sys.modules, "pynvml", library)
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr("penstock.watching.sampling.Sampler", lambda _: None)
        sampling = Sampling(str(tmp_path))
        samples = sampling.loader()
        samples.follow()
        for _ in range(3):
            sampling._look(0.1)
        sampling.close()
        return summarise(StepTimes(), LoaderFacts("Loader"), samples)

    return watch


def test_watching_asks_the_driver(watched):
    library = FakeNvml()
    report = watched(library, FakeTorch())

    assert report.verdict is Verdict.NONE
    assert report.gpu.busy == pytest.approx(0.4)
    assert "GPU          busy 40% of the time (NVML, 3 samples)" in str(report)
    assert report.to_dict()["gpu"]["busy"] == pytest.approx(0.4)
    assert library.calls == ["init", "by uuid", "rates", "rates", "rates", "shutdown"]


def test_watching_says_why_it_does_not_know(watched):
    assert "penstock[nvml]" in str(watched(None, FakeTorch()))
    assert "Driver Not Loaded" in str(watched(FakeNvml(fails={"rates"}), FakeTorch()))


def test_nothing_is_said_of_a_gpu_that_nobody_uses(watched):
    library = FakeNvml()
    report = watched(library, FakeTorch(is_initialized=False))

    assert report.gpu is None
    assert "GPU" not in str(report)
    assert library.calls == []
