import itertools
from pathlib import Path

import numpy as np
import pytest

from penstock.costs import calibrate as calibration_room
from penstock.costs.calibrate import Calibration, Measured, calibrate, fit
from penstock.costs.trial_pictures import MEDIUM, as_jpeg, make_photo
from penstock.costs.trial_runs import Run, all_runs
from penstock.planner.amounts import Unit


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return list(all_runs(Path(tmp_path_factory.mktemp("trials"))))


def test_every_unit_is_in_some_trial(runs):
    amounts = np.sum([run.amounts for run in runs], axis=0)
    assert [unit.name for unit in Unit if amounts[unit] == 0] == []


def test_trials_can_be_run_again_and_again(runs):
    for run in runs[:: len(runs) // 12]:
        run.go()
        run.go()


def test_trials_are_the_same_every_time(runs, tmp_path):
    again = list(itertools.islice(all_runs(tmp_path), 60))
    for run, other in zip(runs, again, strict=False):
        assert run.name == other.name
        np.testing.assert_array_equal(run.amounts, other.amounts)


def test_photos_are_the_same_every_time():
    np.testing.assert_array_equal(make_photo(MEDIUM, 1), make_photo(MEDIUM, 1))
    assert 0.4 < len(as_jpeg(make_photo(MEDIUM, 1), "4:4:4")) / (375 * 500) < 1.2


def priced(prices, rows, noise=1.0):
    """Trials whose times follow from `prices`."""
    random = np.random.default_rng(0)
    amounts = random.integers(0, 100, (rows, len(Unit))) * (random.random((rows, len(Unit))) < 0.2)
    amounts[:, Unit.SAMPLE] = 1
    times = amounts @ prices * random.uniform(1, noise, rows)
    return [Measured(str(row), amounts[row].astype(float), times[row] / 1e9) for row in range(rows)]


def test_prices_are_found_again_from_the_times_that_they_make():
    random = np.random.default_rng(1)
    prices = random.uniform(5, 10, len(Unit)) * (random.random(len(Unit)) < 0.8)
    prices[Unit.SAMPLE] = 1_000

    found = fit(priced(prices, 300)).nanoseconds

    np.testing.assert_allclose(found, prices, rtol=1e-6, atol=1e-6)


def test_noise_makes_no_price_negative():
    prices = np.zeros(len(Unit))
    prices[Unit.SAMPLE] = 1_000
    prices[::3] = 5

    found = fit(priced(prices, 120, noise=1.5)).nanoseconds

    assert (found >= 0).all()
    assert np.isfinite(found).all()


def test_times_of_nothing_make_finite_prices():
    trials = [Measured("none", np.ones(len(Unit)), 0.0), Measured("zero", np.zeros(len(Unit)), 0.0)]
    assert np.isfinite(fit(trials).nanoseconds).all()


@pytest.fixture
def few_runs(monkeypatch):
    """Three trials that take what a clock without hands says."""
    spent = []

    def make(_folder):
        for place, unit in enumerate((Unit.SAMPLE, Unit.TILE, Unit.STEP)):
            amounts = np.zeros(len(Unit))
            amounts[unit] = 10
            yield Run(unit.name, amounts, lambda place=place: spent.append(place))

    monkeypatch.setattr(calibration_room, "all_runs", make)
    return spent


class Clock:
    """Each trial takes as many microseconds as its number plus one; `slow` rounds take longer."""

    def __init__(self, spent, slow=(), trials=3):
        self.spent, self.slow, self.trials = spent, slow, trials

    def __call__(self):
        total = 0.0
        for number, place in enumerate(self.spent):
            times = 50 if number // self.trials in self.slow else 1
            total += (place + 1) * 1e-6 * times
        return total


def test_a_calibration_takes_the_median_of_its_rounds(few_runs):
    rounds = []
    clock = Clock(few_runs, slow=(1, 3))

    prices = calibrate(lambda done, of: rounds.append((done, of)), clock)

    assert few_runs == [0, 1, 2] * 5
    assert rounds == [(done, 5) for done in range(1, 6)]
    units = [Unit.SAMPLE, Unit.TILE, Unit.STEP]
    np.testing.assert_allclose(prices.nanoseconds[units], [100, 200, 300])
    assert prices.are_measured


def test_a_slow_machine_has_fewer_rounds(few_runs):
    calibrate(clock=lambda: len(few_runs) * 2.0)
    assert few_runs == [0, 1, 2] * 2


def test_rounds_can_take_turns_with_other_work(few_runs):
    with Calibration(Clock(few_runs)) as calibration:
        calibration.run_round()
        assert [one.seconds for one in calibration.measured()] == pytest.approx([1e-6, 2e-6, 3e-6])
        calibration.run_round()
    assert few_runs == [0, 1, 2] * 2
