"""Samples are added up, also those of workers that were killed while they wrote."""

import gc
import json
import os
import pickle
import sys
import threading
from types import ModuleType

import pytest

from penstock.watching import sampling
from penstock.watching.frames import Doing, Stage
from penstock.watching.sampler import Sampler, Tally, WorkerSampler, current_frames, read_tallies
from penstock.watching.sampling import SampledLoop, Sampling

BLUR = Doing(Stage.OP, "GaussianBlur", "train.py:3")


def test_a_tally_survives_being_written(tmp_path):
    tally = Tally(cpu_s=1.5, queued_s=0.25, process_cpu_s=2.0)
    tally.add(BLUR, 0.5)
    tally.add(BLUR, 0.25)
    tally.add(Doing(Stage.IDLE), 1.0)
    for name in ("1-7.json", "1-8.json"):
        (tmp_path / name).write_text(json.dumps(tally.to_dict()))
    both = read_tallies([str(tmp_path / "1-7.json"), str(tmp_path / "1-8.json")])

    assert (both.samples, both.wall_s, both.cpu_s) == (6, 3.5, 3.0)
    assert both.of(Stage.OP) == 1.5
    assert both.of(Stage.IDLE, Stage.OP) == 3.5


def test_a_report_that_was_never_finished_is_left_out(tmp_path):
    (tmp_path / "1-7.json").write_text('{"samples": 3')

    assert read_tallies([str(tmp_path / "1-7.json"), str(tmp_path / "none.json")]) == Tally()


def test_a_worker_sampler_writes_where_it_was_told(tmp_path):
    sampler = WorkerSampler(str(tmp_path / "1-7.json"), str(tmp_path))
    sampler._look(0.25)
    sampler.stop()
    tally = read_tallies([str(tmp_path / "1-7.json")])

    assert tally.wall_s >= 0.25
    assert tally.of(Stage.STEP) == tally.wall_s  # no worker loop is in this stack


def test_a_folder_that_is_gone_is_nobodys_error(tmp_path):
    WorkerSampler(str(tmp_path / "gone" / "1-7.json"), str(tmp_path)).stop()


def test_an_error_while_looking_ends_the_looking_only():
    class Onlooker:
        looked = threading.Event()

        def look(self, seconds):
            self.looked.set()
            raise ValueError("a stack like no other")

    onlooker = Onlooker()
    sampler = Sampler(onlooker.look)
    assert onlooker.looked.wait(timeout=60)
    sampler._thread.join(timeout=60)
    assert not sampler._thread.is_alive()
    sampler.stop()


@pytest.fixture
def worker_module(monkeypatch):
    """A module with a worker loop, as torch has it."""
    module = ModuleType(sampling.WORKER_MODULE)
    module.calls = []
    module._worker_loop = lambda *arguments: module.calls.append(arguments)
    monkeypatch.setitem(sys.modules, sampling.WORKER_MODULE, module)
    return module


def test_workers_report_only_where_they_are_started_inside(worker_module, tmp_path):
    loops = Sampling(str(tmp_path))
    samples = loops.loader()
    with samples.starting():
        worker_module._worker_loop("inside")
    worker_module._worker_loop("outside")

    assert worker_module.calls == [("inside",), ("outside",)]
    assert [os.path.basename(file) for file in loops.files(1)] == [f"1-{os.getpid()}.json"]
    loops.close()
    assert loops.files(1) == []


def test_a_loader_without_workers_leaves_nothing_behind(worker_module, tmp_path):
    loops = Sampling(str(tmp_path))
    with loops.loader().starting():
        pass

    assert not os.path.exists(loops._tallies)


def test_the_hook_is_set_once(worker_module):
    sampling.hook_torch_workers()
    hooked = worker_module._worker_loop
    sampling.hook_torch_workers()

    assert worker_module._worker_loop is hooked


def test_a_spawned_worker_gets_the_target_and_finds_the_loop_by_name(worker_module, tmp_path):
    loops = Sampling(str(tmp_path))
    plain = worker_module._worker_loop
    with loops.loader().starting():
        sent = pickle.dumps(worker_module._worker_loop)
    worker_module._worker_loop = plain  # as it is in a fresh process
    loop = pickle.loads(sent)  # noqa: S301 (what it just wrote)
    loop("spawned")

    assert isinstance(loop, SampledLoop)
    assert worker_module.calls == [("spawned",)]
    assert len(loops.files(1)) == 1
    loops.close()


def test_a_torch_made_another_way_is_left_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, sampling.WORKER_MODULE, object())

    sampling.hook_torch_workers()


def test_a_working_folder_that_was_removed_is_no_error(monkeypatch):
    def removed():
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", removed)

    assert sampling.sampling_here.__wrapped__().folder == os.sep


def test_nothing_is_collected_while_frames_are_looked_up(monkeypatch):
    """The interpreter holds a lock then that a freed tensor could wait for, and for ever."""
    seen = []
    monkeypatch.setattr(sys, "_current_frames", lambda: seen.append(gc.isenabled()) or {})
    was_enabled = gc.isenabled()
    try:
        for wanted in (True, False):
            (gc.enable if wanted else gc.disable)()
            current_frames()
            assert gc.isenabled() is wanted
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert seen == [False, False]


def test_the_thread_ends_with_the_last_loop(monkeypatch):
    sampling_ = Sampling("/home/me")
    one, other = sampling_.loader(), sampling_.loader()
    one.follow()
    other.follow()  # the thread asks this one now
    thread = sampling_._sampler._thread
    one.leave()
    assert thread.is_alive()
    other.leave()
    assert not thread.is_alive()
    one.follow()
    assert sampling_._sampler is not None
    sampling_.close()


def test_the_thread_ends_with_its_owner():
    sampling_ = Sampling("/home/me")
    sampling_.loader().follow()
    thread = sampling_._sampler._thread
    del sampling_
    gc.collect()
    thread.join(5.0)

    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")  # pytest has threads
def test_no_thread_runs_while_the_script_forks():
    sampling_ = Sampling("/home/me")
    samples = sampling_.loader()
    samples.follow()
    thread = sampling_._sampler._thread
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

    assert not thread.is_alive()
    samples.follow()
    assert sampling_._sampler is not None
    sampling_.close()
