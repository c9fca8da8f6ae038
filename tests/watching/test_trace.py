"""Traces for chrome://tracing and Perfetto, and NVTX ranges."""

import gc
import json
import subprocess
import sys
import types

import numpy as np
import pytest

import penstock
from penstock import PenstockError
from penstock.analysis.measure import Effort
from penstock.watching.frames import Doing, Stage
from penstock.watching.ranges import nvtx_ranges
from penstock.watching.trace import StageSpan, Stretches, Trace

BATCHES = [np.zeros((4, 3, 8, 8), np.float32)] * 12


def read(file):
    """Return the events of a file by their kind, and the names of the tracks."""
    document = json.loads(file.read_text())
    events = document["traceEvents"]
    tracks = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    for event in events:
        assert {"ph", "name", "pid", "tid"} <= event.keys()
        if event["ph"] == "X":
            assert event["dur"] >= 0
    return events, tracks


def spans(events, name):
    return [event for event in events if event["ph"] == "X" and event["name"] == name]


def test_events_have_what_viewers_need(tmp_path):
    trace = Trace("me")
    trace.span("wait", 1.0, 1.5, "loop", {"batch": 3})
    trace.moment("batch 3", 1.5, "loop")
    trace.counter("GPU", 1.6, 40.0)
    trace.stages([StageSpan(Doing(Stage.OP, "Resize", "a.py:3"), 1.0, 2.0)], "worker", 77)
    trace.write(tmp_path / "trace.json")
    events, tracks = read(tmp_path / "trace.json")

    (wait,) = spans(events, "wait")
    assert (wait["ts"], wait["dur"], wait["args"]) == (1e6, 5e5, {"batch": 3})
    assert tracks[wait["pid"], wait["tid"]] == "loop"
    (stage,) = spans(events, "augmenting: Resize")
    assert (stage["pid"], stage["args"]) == (77, {"place": "a.py:3"})
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {wait["pid"]: "me", 77: "worker 77"}


def test_what_is_too_much_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.watching.trace.MOST_EVENTS", 2)
    trace = Trace()
    for number in range(5):
        trace.moment(f"{number}", 0.0, "track")

    assert "3 later events" in str(trace.events())


def test_looks_become_stretches():
    stretches = Stretches()
    read_, step = Doing(Stage.READ), Doing(Stage.STEP)
    for doing, begin in ((read_, 0.0), (read_, 0.02), (step, 0.04), (step, 5.0)):
        stretches.add(doing, begin, begin + 0.02)

    assert [(s.doing.stage, s.begin_s, s.end_s) for s in stretches.spans] == [
        (Stage.READ, 0.0, 0.04),
        (Stage.STEP, 0.04, 0.06),
        (Stage.STEP, 5.0, 5.02),
    ]
    assert StageSpan.of(stretches.spans[0].to_list()).doing == read_


def test_watched_loop_is_traced(tmp_path):
    watched = penstock.watch(BATCHES, trace=tmp_path / "trace.json")
    for _ in watched:
        pass
    watched.report()
    events, tracks = read(tmp_path / "trace.json")

    assert len(spans(events, "wait")) == len(spans(events, "step")) == 12
    assert "loop over list" in tracks.values()
    (tmp_path / "trace.json").unlink()
    del watched
    gc.collect()
    assert len(spans(read(tmp_path / "trace.json")[0], "wait")) == 12


def test_trace_is_written_when_the_program_ends(tmp_path):
    torch = pytest.importorskip("torch")
    del torch
    script = tmp_path / "train.py"
    script.write_text(
        "import time, torch, penstock\n"
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Images(Dataset):\n"
        "    def __len__(self): return 8\n"
        "    def __getitem__(self, i): time.sleep(0.1); return torch.zeros(3, 8, 8)\n"
        "if __name__ == '__main__':\n"
        "    loader = penstock.watch(DataLoader(Images(), batch_size=2, num_workers=1),\n"
        "                            trace='trace.json')\n"
        "    for _ in loader: pass\n"
    )
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True, timeout=120)
    events, tracks = read(tmp_path / "trace.json")

    assert len(spans(events, "wait")) == 4
    worker = [place for place, name in tracks.items() if name == "worker of DataLoader"]
    assert worker
    assert any(
        event["pid"] == worker[0][0] for event in spans(events, "own code: Images.__getitem__")
    )


@pytest.mark.parametrize("file", ["no/such/folder/t.json", "."])
def test_file_that_cannot_be_written_is_refused_first(tmp_path, file):
    with pytest.raises(PenstockError, match="cannot write the trace"):
        penstock.watch(BATCHES, trace=tmp_path / file)
    with pytest.raises(PenstockError, match="cannot write the trace"):
        penstock.analyze(BATCHES, device="emulated:1e5", trace=tmp_path / file)


def test_analysis_is_traced(tmp_path):
    penstock.analyze(
        BATCHES,
        device="emulated:1e5",
        effort=Effort(1, 0.02),
        sweeps=False,
        trace=tmp_path / "trace.json",
    )
    events, tracks = read(tmp_path / "trace.json")

    assert {"measurements", "pipeline alone", "end to end", "device"} <= set(tracks.values())
    assert spans(events, "the step alone")
    assert len(spans(events, "wait")) > 12


class FakeNvtx(types.ModuleType):
    """The part of nvtx that is used."""

    def __init__(self):
        super().__init__("nvtx")
        self.open, self.done = [], []

    def start_range(self, message, color, domain):
        assert domain == "penstock"
        del color
        self.open.append(message)
        return message

    def end_range(self, handle):
        self.open.remove(handle)
        self.done.append(handle)


@pytest.fixture
def nvtx(monkeypatch):
    library = FakeNvtx()
    monkeypatch.setitem(sys.modules, "nvtx", library)
    return library


def test_waits_and_steps_are_ranges(nvtx):
    for _ in penstock.watch(BATCHES[:2]):
        pass

    wait = "wait for a batch"
    assert nvtx.done == [wait, "step 0", wait, "step 1", wait]
    assert nvtx.open == []


def test_analysis_has_ranges(nvtx):
    penstock.analyze(BATCHES, device="emulated:1e5", effort=Effort(1, 0.02), sweeps=False)

    assert "step 1" in nvtx.done
    assert nvtx.open == []


def test_without_nvtx_there_are_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", None)

    assert nvtx_ranges() is None
