"""What tests of the analysis share."""

import pytest

from penstock.analysis.measure import Effort


@pytest.fixture
def hurried(monkeypatch):
    """Has `--quick` measure for moments: what is tested then is not how fast anything is."""
    monkeypatch.setattr(Effort, "quick", staticmethod(lambda: Effort(rounds=2, seconds=0.05)))
