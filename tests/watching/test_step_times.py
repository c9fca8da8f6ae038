"""Waiting and computing are told apart whatever the loops look like."""

from threading import Thread

import numpy as np
import pytest

from clocks import StillClock
from penstock.watching.step_times import StepTimes


@pytest.fixture
def clock():
    return StillClock()


def take(epoch, clock, wait_s):
    """Wait for a batch of four."""
    epoch.ask()
    clock.sleep(wait_s)
    epoch.give(images=4)


def loop(times, clock, steps, *, wait_s=0.0, compute=lambda: None):
    """Go through an epoch of `steps` batches."""
    epoch = times.begin_epoch()
    epoch.has_begun()
    for _ in range(steps):
        take(epoch, clock, wait_s)
        compute()
    epoch.ask()
    epoch.end()


def test_an_iterator_made_early_is_not_waited_for_until_it_is_asked(clock):
    times = StepTimes(clock)
    epoch = times.begin_epoch()
    clock.sleep(0.5)  # starting workers
    epoch.has_begun()
    clock.sleep(60)  # the script sets up its model
    take(epoch, clock, 0.25)

    assert times.waited_s.tolist() == [0.75]


def test_validation_inside_a_step_is_no_part_of_it(clock):
    training, validation, inner = StepTimes(clock), StepTimes(clock), StepTimes(clock)

    def validate_batch():
        clock.sleep(8)
        loop(inner, clock, 2, wait_s=0.5, compute=lambda: clock.sleep(0.5))

    def train():
        clock.sleep(1)
        loop(validation, clock, 3, wait_s=2, compute=validate_batch)

    loop(training, clock, 2, compute=train)

    assert training.computed_s.tolist() == [1, 1]
    assert validation.computed_s.tolist() == [8] * 6
    assert validation.waited_s.tolist() == [2] * 6
    assert inner.computed_s.tolist() == [0.5] * 12


def test_a_validation_that_stops_early_is_taken_off_as_far_as_it_went(clock):
    training, validation = StepTimes(clock), StepTimes(clock)

    def train():
        epoch = validation.begin_epoch()
        epoch.has_begun()
        take(epoch, clock, 16)
        clock.sleep(1)

    loop(training, clock, 3, compute=train)

    assert training.computed_s.tolist() == [1, 1, 1]


def test_loaders_side_by_side(clock):
    """As zip has them: each computes while the other is waited for."""
    times = StepTimes(clock), StepTimes(clock)
    epochs = [one.begin_epoch() for one in times]
    for epoch in epochs:
        epoch.has_begun()
    for _ in range(3):
        for epoch, wait_s in zip(epochs, (0.25, 0.5), strict=True):
            take(epoch, clock, wait_s)
        clock.sleep(1)

    assert times[0].waited_s.tolist() == [0.25] * 3
    assert times[0].computed_s[:2].tolist() == [1.5] * 2
    assert times[1].computed_s[:2].tolist() == [1.25] * 2


def test_a_loader_begun_anew_inside_a_step_then_goes_on_beside_it(clock):
    """As where the shorter of two loaders is started again."""
    longer, shorter = StepTimes(clock), StepTimes(clock)
    epoch = None

    def step():
        nonlocal epoch
        if epoch is None:
            epoch = shorter.begin_epoch()
            epoch.has_begun()
        take(epoch, clock, 0.5)
        clock.sleep(1)

    loop(longer, clock, 3, compute=step)

    assert longer.computed_s.tolist() == [1, 1.5, 1.5]


def test_two_epochs_of_one_loader_at_once(clock):
    times = StepTimes(clock)
    first, second = times.begin_epoch(), times.begin_epoch()
    first.has_begun()
    second.has_begun()
    for epoch in (first, second):
        take(epoch, clock, 1)
    clock.sleep(2)
    first.ask()
    clock.sleep(4)
    second.ask()

    assert times.epochs == 2
    assert times.waited_s.tolist() == [1, 1]
    assert times.computed_s.tolist() == [3, 6]
    assert times.is_first.all()


def test_what_a_failure_takes_is_nobodys(clock):
    """A loop may go on after an error, as torch's DataLoader lets it."""
    times = StepTimes(clock)
    epoch = times.begin_epoch()
    epoch.has_begun()
    epoch.ask()
    epoch.give(4)
    clock.sleep(1)
    epoch.ask()
    clock.sleep(30)
    epoch.end()
    clock.sleep(30)
    epoch.ask()
    epoch.give(4)

    assert times.computed_s[0] == 1
    assert times.waited_s.tolist() == [0, 0]


def test_threads_lose_no_step():
    times = StepTimes()
    threads = [Thread(target=loop, args=(times, StillClock(), 5000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (times.epochs, times.steps, times.images.sum()) == (4, 20_000, 80_000)
    assert np.isfinite(times.computed_s).all()


def test_recent_steps_are_those_that_ended(clock):
    times = StepTimes(clock)
    loop(times, clock, 5, wait_s=1, compute=lambda: clock.sleep(2))
    epoch = times.begin_epoch()
    epoch.has_begun()
    epoch.ask()
    epoch.give(4)

    assert times.recent(3) == (2, 4, 8)
