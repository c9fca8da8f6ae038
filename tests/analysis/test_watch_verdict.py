import pytest

from penstock.analysis.loader_facts import LoaderFacts
from penstock.analysis.results import Verdict
from penstock.analysis.watch_verdict import Shares, judge


@pytest.mark.parametrize(
    ("shares", "workers", "cores", "verdict", "words"),
    [
        (Shares(0, 4, 0.9, 0.9), 2, 2, Verdict.NONE, "4 steps"),
        (Shares(40, 0, 0.0, 0.0), 2, 2, Verdict.NONE, "started 40 times"),
        (Shares(0, 50, 0.01, 0.01), 2, 2, Verdict.ACCELERATOR, "only 1% of the time"),
        (Shares(0, 50, 0.4, 0.01), 2, 2, Verdict.START_UP, "Waiting takes 40% of the time"),
        (Shares(0, 50, 0.4, 0.01), 0, 2, Verdict.START_UP, "longer epochs would help"),
        (Shares(0, 50, 0.4, 0.01), 2, 2, Verdict.START_UP, "persistent_workers=True"),
        (Shares(0, 50, 0.8, 0.75), 0, 8, Verdict.WORKERS, "Try num_workers=8"),
        (Shares(0, 50, 0.8, 0.75), 2, 8, Verdict.WORKERS, "2 of 8 cores"),
        (Shares(0, 50, 0.8, 0.75), 8, 8, Verdict.INPUT, "4.0 times as fast"),
        (Shares(0, 50, 0.8, 0.75), 0, 1, Verdict.INPUT, "75% of the time"),
        (Shares(0, 50, 0.8, 0.75), 32, 8, Verdict.INPUT, "32 workers share 8 cores"),
        (Shares(0, 50, 0.8, 0.75), None, 8, Verdict.INPUT, "75% of the time"),
        (Shares(0, 50, 1.0, 1.0), None, 8, Verdict.INPUT, "over 50 times"),
    ],
)
def test_verdict(shares, workers, cores, verdict, words):
    judged = judge(shares, LoaderFacts("DataLoader", workers=workers), cores)

    assert judged.verdict is verdict
    assert words in judged.sentence


def test_workers_that_are_kept_are_not_advised_again():
    facts = LoaderFacts("DataLoader", workers=2, keeps_workers=True)
    judged = judge(Shares(0, 50, 0.4, 0.01), facts, cores=2)

    assert "persistent_workers" not in judged.sentence
