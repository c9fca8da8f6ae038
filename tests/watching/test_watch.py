"""Watching: the same batches, every step counted, nothing else changed."""

import copy
import json
import pickle
import threading

import numpy as np
import pytest

import penstock as ps
from clocks import StillClock
from penstock.errors import LoaderError
from penstock.results.records import Verdict


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = StillClock()
    monkeypatch.setattr("penstock.watching.step_times.perf_counter", clock)
    monkeypatch.setattr(SleepyLoader, "clock", clock)
    return clock


class SleepyLoader:
    """Takes its time for each batch; has what real loaders have."""

    clock = None

    batch_size = 4
    num_workers = 0

    def __init__(self, batches=12, wait_s=0.0, first_wait_s=0.0):
        self.batches = batches
        self.wait_s = wait_s
        self.first_wait_s = first_wait_s
        self.epoch = None

    def __len__(self):
        return self.batches

    def __iter__(self):
        self.clock.sleep(self.first_wait_s)
        for number in range(self.batches):
            self.clock.sleep(self.wait_s)
            yield np.full((4, 3, 2, 2), number), np.arange(4)

    def set_epoch(self, epoch):
        self.epoch = epoch


def test_batches_are_the_loaders_own():
    batches = [object() for _ in range(3)]

    assert all(a is b for a, b in zip(ps.watch(batches), batches, strict=True))


def test_everything_else_passes_through():
    loader = SleepyLoader()
    watched = ps.watch(loader)
    watched.set_epoch(3)

    assert loader.epoch == 3
    assert len(watched) == 12
    assert watched.batch_size == 4
    with pytest.raises(AttributeError, match="no_such"):
        watched.no_such  # noqa: B018


def test_attributes_are_set_on_the_loader():
    loader = SleepyLoader()
    watched = ps.watch(loader)
    watched.epoch = 5

    assert loader.epoch == 5


def pickled(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301 (what it just wrote)


@pytest.mark.parametrize("copied", [copy.copy, pickled])
def test_copies_have_times_of_their_own(copied):
    watched = ps.watch(SleepyLoader(), batch_size=3)
    list(watched)
    other = copied(watched)
    list(other)

    assert watched.report().images == other.report().images == 36


def test_watching_what_is_watched():
    inner = ps.watch(SleepyLoader(wait_s=0.005))
    outer = ps.watch(inner)
    list(outer)

    assert outer.report().waits_ms == inner.report().waits_ms
    assert outer.report().loader.kind == "SleepyLoader"


def test_a_generator_has_no_length_and_needs_none():
    watched = ps.watch(np.zeros((2, 3)) for _ in range(3))

    assert watched
    assert len(list(watched)) == 3
    with pytest.raises(TypeError, match="has no len"):
        len(watched)


def test_a_slow_loader_is_seen():
    watched = ps.watch(SleepyLoader(wait_s=0.005))
    for _ in watched:
        pass
    report = watched.report()

    assert report.steps == 12
    assert report.images == 48
    assert report.waited_share == 1
    assert report.verdict in {Verdict.WORKERS, Verdict.INPUT}
    assert report.waits_ms["least"] == pytest.approx(5)


def test_a_slow_step_is_seen(clock):
    watched = ps.watch(SleepyLoader())
    for _ in watched:
        clock.sleep(0.005)
    report = watched.report()

    assert report.verdict is Verdict.ACCELERATOR
    assert report.computed_s == pytest.approx(12 * 0.005)
    assert report.images_per_s == pytest.approx(4 / 0.005)


def test_a_slow_start_is_told_from_a_slow_loader(clock):
    watched = ps.watch(SleepyLoader(first_wait_s=0.3))
    for _ in watched:
        clock.sleep(0.005)

    assert watched.report().verdict is Verdict.START_UP
    assert watched.report().first_batch_s == pytest.approx(0.3)


def test_too_few_steps_give_no_verdict():
    watched = ps.watch(SleepyLoader(batches=3))
    list(watched)

    assert watched.report().verdict is Verdict.NONE


def test_nothing_watched_yet():
    report = ps.watch([]).report()

    assert report.steps == 0
    assert report.images_per_s is None
    assert str(report).startswith("no verdict")


def test_epochs_add_up_and_time_between_them_is_nobodys(clock):
    watched = ps.watch(SleepyLoader())
    for _ in range(3):
        list(watched)
        clock.sleep(0.05)
    report = watched.report()

    assert (report.epochs, report.steps) == (3, 36)
    assert report.waited_s == report.computed_s == 0


def test_a_loop_that_breaks_leaves_its_last_step_out():
    watched = ps.watch(SleepyLoader())
    for number, _ in enumerate(watched):
        if number == 4:
            break
    next(iter(watched))

    assert watched.report().steps == 6
    assert len(watched.steps().waited) == len(watched.steps().computed) == 4


def test_no_thread_goes_on_after_a_break():
    threads = threading.active_count()
    for number, _ in enumerate(ps.watch(SleepyLoader())):
        if number == 4:
            assert threading.active_count() == threads + 1
            break

    assert threading.active_count() == threads


def test_callback_gets_every_step_in_order():
    seen = []
    watched = ps.watch(
        SleepyLoader(wait_s=0.001), callback=lambda step, scalars: seen.append((step, scalars))
    )
    list(watched)
    list(watched)

    assert [step for step, _ in seen] == list(range(24))
    assert set(seen[0][1]) == {
        "input/wait_ms",
        "input/compute_ms",
        "input/wait_share",
        "input/images_per_s",
    }


def test_callbacks_time_is_neither_waited_nor_computed(clock):
    watched = ps.watch(SleepyLoader(), callback=lambda *_: clock.sleep(0.02))
    list(watched)
    report = watched.report()

    assert report.waited_s == report.computed_s == 0


def test_live_line_stands_once_an_epoch_in_a_log(capsys):
    watched = ps.watch(SleepyLoader(), live=True)
    list(watched)
    out, err = capsys.readouterr()

    assert not out
    assert err.startswith("step 12: waited ")
    assert err.count("\n") == 1


def test_live_line_is_rewritten_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("penstock.watching.watch.REDRAW_EVERY_S", 0.0)
    list(ps.watch(SleepyLoader(), live=True))
    err = capsys.readouterr().err

    assert err.count("\r") == 13
    assert err.count("\n") == 1


def test_live_line_is_left_before_a_report(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    watched = ps.watch(SleepyLoader(), live=True)
    for number, _ in enumerate(watched):
        if number == 3:
            break
    watched.report()
    watched.report()

    assert capsys.readouterr().err.count("\n") == 1


def test_report_is_json_and_text():
    watched = ps.watch(SleepyLoader())
    list(watched)
    report = watched.report()

    assert json.loads(json.dumps(report.to_dict()))["verdict"] == report.verdict.value
    assert "SleepyLoader(batch_size=4, num_workers=0)" in str(report)


def test_a_subclass_of_torchs_loader():
    data = pytest.importorskip("torch.utils.data")

    class Mine(data.DataLoader):
        def __iter__(self):
            yield from super().__iter__()

    watched = ps.watch(Mine(range(12), batch_size=4))
    list(watched)

    assert (watched.report().images, watched.report().loader.samples) == (12, 12)


def test_an_error_in_the_loop_leaves_its_step_out():
    watched = ps.watch(SleepyLoader(wait_s=0.005))
    with pytest.raises(ZeroDivisionError):
        for number, _ in enumerate(watched):
            1 / (2 - number)

    assert watched.report().steps == 3
    assert len(watched.steps().waited) == 2


def test_errors_of_the_loader_pass_through():
    def broken():
        yield np.zeros((1, 2))
        raise ValueError("a bad file")

    watched = ps.watch(broken())
    with pytest.raises(ValueError, match="a bad file"):
        list(watched)
    assert watched.report().steps == 1


@pytest.mark.parametrize(
    ("loader", "batch_size", "message"),
    [(3, None, "int cannot be iterated over"), ([], 0, "must be 1 or more, got 0")],
)
def test_bad_arguments(loader, batch_size, message):
    with pytest.raises(LoaderError, match=message):
        ps.watch(loader, batch_size=batch_size)
