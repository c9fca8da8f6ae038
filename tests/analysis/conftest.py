"""What tests of the analysis share."""

import pytest

from penstock.analysis import budget
from penstock.analysis.measure import Effort


@pytest.fixture(scope="session", autouse=True)
def _machine_is_quiet():
    """Tests share their machine with others: runs of moments contradict each other there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.analysis.analyze.busy_banner", lambda _: "")
        patch.setattr("penstock.analysis.rates.contradiction", lambda *_: "")
        yield


@pytest.fixture
def hurried(monkeypatch):
    """Has every rate measured for moments: what is tested then is not how fast anything is."""
    monkeypatch.setattr(budget, "_EFFORTS", (Effort(rounds=2, seconds=0.05),))
