"""Calls of ours beside torchvision's: all give the same bits, and a table comes out."""

import pytest

from benchmarks import calls


@pytest.fixture(autouse=True)
def _all_cores(monkeypatch):
    """Leave the process on the cores that it has."""
    monkeypatch.delattr("os.sched_setaffinity", raising=False)


def test_every_call_gives_torchvisions_bits(torchvision):
    differing = [
        (contest.name, contest.on) for contest in calls.contests() if contest.agree() != "equal"
    ]
    assert not differing


def test_a_table_is_printed(torchvision, capsys):
    assert calls.main(["--rounds", "1", "--only", "invert"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| equal |") == 3
    assert "torchvision us" in printed
