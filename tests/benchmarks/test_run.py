import json

import pytest

from benchmarks.answer import Answer
from benchmarks.run import CannotResumeError, Run

ANSWER = Answer("classify_224", "Training", "How fast", "3 rounds", 256, "a machine")


def test_a_run_is_resumed_with_what_it_has(tmp_path):
    state = tmp_path / "run.json"
    Run.begun(["--quick"], state).add(ANSWER)

    run = Run.resumed(["--quick", "--resume"], state)

    assert [answer.name for answer in run.answers] == ["classify_224"]
    assert run.answers[0].command == run.command == "penstock bench --quick"


def test_a_new_run_forgets_the_last_one(tmp_path):
    state = tmp_path / "run.json"
    Run.begun([], state).add(ANSWER)

    Run.begun([], state)

    assert Run.resumed([], state).answers == []


def test_another_run_is_not_resumed(tmp_path):
    state = tmp_path / "run.json"
    with pytest.raises(CannotResumeError, match="no run"):
        Run.resumed([], state)
    Run.begun(["--quick"], state)

    with pytest.raises(CannotResumeError, match="`penstock bench --quick`"):
        Run.resumed(["--cores", "1"], state)


def test_every_figure_is_written(tmp_path):
    run = Run.begun([], tmp_path / "run.json")
    run.add(ANSWER)

    run.write(tmp_path / "figures.json")

    (case,) = json.loads((tmp_path / "figures.json").read_text())["cases"]
    assert case["different_photos"] == 256
    assert not list(tmp_path.glob("*.unfinished"))
