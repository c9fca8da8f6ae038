"""Ranks that train together: who holds them up."""

import math

import pytest

from penstock.watching.ranks import RankSteps, judge_ranks, mean_step
from penstock.watching.step_times import StepTimes


def rank(number, wait_ms, compute_ms, *, steps=100, verdict="input-bound", rate=100.0):
    return RankSteps(number, steps, wait_ms / 1e3, compute_ms / 1e3, verdict, f"Of {number}.", rate)


def test_the_rank_that_waits_for_data_holds_the_others_up():
    """They leave each step together, so all have the same rate."""
    found = judge_ranks(
        [rank(0, 1, 99, verdict="accelerator-bound"), rank(1, 60, 40), rank(2, 3, 97)]
    )

    assert (found.straggler, found.verdict) == (1, "input-bound")
    assert "waits 60.0 ms per step for its data, the others 2.0 ms" in found.sentence
    assert found.sentence.endswith("Of rank 1: Of 1.")
    assert found.images_per_s == 300


def test_ranks_that_do_not_wait_for_each_other_are_told_by_their_steps():
    found = judge_ranks([rank(0, 1, 50), rank(3, 1, 90)])

    assert found.straggler == 3
    assert "takes it 91.0 ms" in found.sentence
    assert "the others take 51.0 ms" in found.sentence


def test_ranks_that_are_alike_have_no_straggler():
    found = judge_ranks([rank(0, 20, 80), rank(1, 22, 79)])

    assert found.straggler is None
    assert "20.0 ms to 22.0 ms" in found.sentence
    assert found.verdict == "input-bound"


def test_few_steps_are_not_compared():
    found = judge_ranks([rank(0, 20, 80, steps=3), rank(1, 90, 10, rate=None)])

    assert found.straggler is None
    assert found.sentence.startswith("Too few steps")
    assert found.images_per_s is None


def test_average_of_the_later_steps():
    clock = iter([0.0, 0.0, 0.0, 5.0, 5.0, 7.0, 8.0, 8.0, 9.0])
    times = StepTimes(lambda: next(clock), lambda: 0.0)
    epoch = times.begin_epoch()
    epoch.has_begun()
    epoch.ask()
    epoch.give(4)  # waits 5 s, and computes 2 s
    epoch.ask()
    epoch.give(4)  # waits 1 s, and computes 1 s
    epoch.ask()

    assert times.waited_s.tolist() == [5.0, 1.0]
    assert mean_step(times) == {"steps": 1, "wait_s": 1.0, "compute_s": 1.0}
    assert mean_step(StepTimes())["steps"] == 0
    assert not math.isnan(mean_step(StepTimes())["wait_s"])


def test_one_rank_alone_is_no_straggler():
    assert judge_ranks([rank(0, 20, 80)]).straggler is None


@pytest.mark.parametrize("wait_ms", [0, 1e-9])
def test_steps_of_no_length(wait_ms):
    assert judge_ranks([rank(0, wait_ms, 0), rank(1, wait_ms, 0)]).straggler is None
