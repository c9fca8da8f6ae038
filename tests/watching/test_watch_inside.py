"""Shares of a loader's time, and what the cores did, from made-up samples."""

import pytest

from clocks import StillClock
from penstock.watching.frames import Doing, Stage
from penstock.watching.inside import cpu_use, look_inside, share_of_copying
from penstock.watching.loader_facts import LoaderFacts
from penstock.watching.sampler import Tally
from penstock.watching.step_times import StepTimes

IDLE = Doing(Stage.IDLE)
BLUR = Doing(Stage.OP, "GaussianBlur", "train.py:3")
DECODE = Doing(Stage.DECODE)
TWO_WORKERS = LoaderFacts("DataLoader", workers=2)


class Samples:
    """What sampling saw, without any sampling."""

    def __init__(self, loop=None, workers=None, counted_s=0.0):
        self.loop = loop or Tally()
        self.counted_s = counted_s
        self._workers = workers or Tally()

    def workers(self):
        return self._workers


def tally(looks, **totals):
    made = Tally(**totals)
    for doing, count in looks.items():
        for _ in range(count):
            made.add(doing, 0.02)
    return made


def times(steps=11, wait_s=0.1, wait_cpu_s=0.0, step_s=0.1, step_cpu_s=0.0):
    clock, cpu_clock = StillClock(), StillClock()
    times = StepTimes(clock, cpu_clock)
    epoch = times.begin_epoch()
    epoch.has_begun()
    for _ in range(steps):
        epoch.ask()
        clock.sleep(wait_s)
        cpu_clock.sleep(wait_cpu_s)
        epoch.give(10)
        clock.sleep(step_s)
        cpu_clock.sleep(step_cpu_s)
    epoch.ask()
    epoch.end()
    return times


def test_shares_are_those_of_the_work():
    seen = tally({IDLE: 100, BLUR: 60, DECODE: 40}, cpu_s=2.0)
    inside = look_inside(Samples(workers=seen), TWO_WORKERS, times())

    assert [(part.label, round(part.share, 6)) for part in inside.parts] == [
        ("GaussianBlur", 0.6),
        ("decoding", 0.4),
    ]
    assert inside.idle == pytest.approx(0.5)
    assert inside.waiting == pytest.approx(0.0)
    assert inside.describe() == "GaussianBlur 60%, decoding 40%"


def test_waiting_is_what_is_neither_computing_nor_queueing_nor_idle():
    seen = tally({IDLE: 50, DECODE: 100}, cpu_s=0.5, queued_s=0.5)
    inside = look_inside(Samples(workers=seen), TWO_WORKERS, times())

    assert inside.waiting == pytest.approx(0.5)  # 3 s seen: 1 idle, 0.5 computing, 0.5 queueing


def test_the_line_seen_most_is_the_place():
    seen = tally({Doing(Stage.OP, "Blur", "a.py:1"): 10, Doing(Stage.OP, "Blur", "a.py:2"): 30})
    (part,) = look_inside(Samples(workers=seen), TWO_WORKERS, times()).parts

    assert (part.place, part.share) == ("a.py:2", 1.0)


def test_too_few_looks_say_nothing():
    seen = tally({IDLE: 1000, BLUR: 5})

    assert look_inside(Samples(workers=seen), TWO_WORKERS, times()) is None


def test_without_workers_the_loop_itself_is_looked_at():
    seen = tally({Doing(Stage.STEP): 500, BLUR: 75, DECODE: 25})
    inside = look_inside(
        Samples(loop=seen), LoaderFacts("DataLoader", workers=0), times(wait_cpu_s=0.08)
    )

    assert inside.share(Stage.OP) == pytest.approx(0.75)
    assert inside.waiting == pytest.approx(0.2)


def test_cpu_time_of_workers_is_the_loaders():
    seen = tally({BLUR: 10}, process_cpu_s=2.2)
    use = cpu_use(
        Samples(workers=seen), TWO_WORKERS, times(step_cpu_s=0.15, wait_cpu_s=0.05), None, cores=2
    )

    assert use.wall_s == pytest.approx(0.02)
    assert use.loading_s == pytest.approx(0.02)
    assert use.step_s == pytest.approx(0.02)
    assert use.receiving_s == pytest.approx(0.005)
    assert use.step_cores == pytest.approx(1.5)
    assert use.busy == pytest.approx(1.0)


def test_cpu_time_without_workers_is_the_loaders_while_the_loop_waits():
    use = cpu_use(
        Samples(), LoaderFacts("DataLoader", workers=0), times(wait_cpu_s=0.1), None, cores=2
    )

    assert (use.loading_s, use.step_s) == (pytest.approx(0.01), 0.0)


def test_threads_of_a_loader_cannot_be_told_from_the_step():
    seen = tally({Doing(Stage.ENGINE): 100, Doing(Stage.STEP): 100})
    inside = look_inside(Samples(loop=seen), LoaderFacts("Loader"), times())
    use = cpu_use(Samples(loop=seen), LoaderFacts("Loader"), times(step_cpu_s=0.1), inside, cores=2)

    assert inside is None
    assert not use.loading_is_known
    assert not use.is_contended


def test_a_generator_works_in_the_loop():
    seen = tally({BLUR: 100, Doing(Stage.STEP): 100})
    inside = look_inside(Samples(loop=seen), LoaderFacts("generator"), times(wait_cpu_s=0.1))
    use = cpu_use(
        Samples(loop=seen), LoaderFacts("generator"), times(wait_cpu_s=0.1), inside, cores=2
    )

    assert inside.parts[0].name == "GaussianBlur"
    assert use.loading_share == 1.0


def test_time_threads_spent_queueing_is_scaled_to_an_image():
    use = cpu_use(
        Samples(loop=Tally(queued_s=3.0), counted_s=2.0), TWO_WORKERS, times(), None, cores=2
    )

    assert use.queued_s == pytest.approx(1.5 * 0.02)


def test_copying_to_a_device_is_a_share_of_the_loop():
    seen = tally({Doing(Stage.COPY, "", "train.py:8"): 30, Doing(Stage.STEP): 70})

    assert share_of_copying(Samples(loop=seen)) == pytest.approx(0.3)
    assert share_of_copying(Samples()) == 0
