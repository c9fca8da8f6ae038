"""Measured savings of a loader's plan."""

import pytest

from penstock import Loader
from penstock import transforms as T
from penstock.costs import plan_costs
from penstock.costs.plan_costs import explain_measured

LATE_CROP = T.Compose([T.RandomHorizontalFlip(), T.ColorJitter(0.4), T.CenterCrop(20)])


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(plan_costs, "_SLICE_S", 0.0)


def test_with_planning_off_what_it_would_bring_is_measured(folder):
    told = explain_measured(Loader(folder, transform=LATE_CROP, output="numpy", plan=False))
    assert told.rules == ()
    assert told.measured_planned_us == told.measured_written_us > 0
    assert told.if_planned is not None
    assert told.if_planned.measured_planned_us > 0
    assert all(rule.measured_us is not None for rule in told.if_planned.rules)
    assert "planning is off" in str(told)
    assert ": measured, +-" in str(told)


def test_batches_are_of_images_that_there_are(folder, monkeypatch):
    """As many as take some time together, but no more than an epoch has; the last is dropped."""
    sizes = []
    replica = Loader.replica
    monkeypatch.setattr(
        Loader,
        "replica",
        lambda self, **changes: sizes.append(changes["batch_size"]) or replica(self, **changes),
    )
    loader = Loader(folder, transform=LATE_CROP, batch_size=2, drop_last=True, output="numpy")
    assert explain_measured(loader).measured_written_us > 0
    assert len(set(sizes)) == 1
    assert 1 < sizes[0] <= 2 * len(loader)
