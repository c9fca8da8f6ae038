"""Experiments are resumed, redrawn, and never mix what was measured differently."""

import json

import pytest

from penstock.errors import AnalysisError
from penstock.experiments.experiment import (
    Experiment,
    Task,
    UnavailableError,
    reason_missing,
    redraw,
    run,
)
from penstock.experiments.findings import Claim, Findings, Judgement, Picture, Table

pytest.importorskip("vl_convert")


def draw(journal):
    rows = [
        {"what": key, "rate": value}
        for key, value in journal.measurements.items()
        if not reason_missing(value)
    ]
    bars = {
        "data": {"values": rows},
        "mark": "bar",
        "encoding": {
            "x": {"field": "rate", "type": "quantitative"},
            "y": {"field": "what", "type": "nominal"},
        },
    }
    return Findings(
        "A trial",
        "Which is faster?",
        ("2 distinct photos",),
        claims=(Claim("a | b", Judgement.HOLDS, "a <b> is faster"),),
        pictures=(Picture("rates", "Rates", "Longer is faster.", bars),),
        tables=(
            Table("Rates", ("what", "rate"), [(row["what"], f"{row['rate']}") for row in rows]),
        ),
    )


class Trial:
    """An experiment of three tasks that can be made to stop at one of them."""

    def __init__(self, stop_at=None, environment=None, **settings):
        self.measured = []
        self.is_closed = False
        self._stop_at = stop_at
        self.experiment = Experiment(
            "trial", settings, environment or {"CPU": "this"}, self._tasks, draw, self._close
        )

    def _tasks(self):
        return [Task(key, f"measuring {key}", lambda key=key: self._measure(key)) for key in "abc"]

    def _close(self):
        self.is_closed = True

    def _measure(self, key):
        if key == self._stop_at:
            raise KeyboardInterrupt
        self.measured.append(key)
        if key == "c":
            raise UnavailableError("c is not installed")
        return ord(key)


def test_everything_is_written(tmp_path):
    findings = run(Trial(size=3).experiment, tmp_path / "out")

    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"results.json", "rates.svg", "trial.md", "report.html"}
    kept = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert kept["settings"] == {"size": 3}
    assert kept["measurements"] == {"a": 97, "b": 98, "c": {"failed": "c is not installed"}}
    assert "<svg" in (tmp_path / "out" / "rates.svg").read_text("utf-8")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "a &lt;b&gt; is faster" in page
    markdown = (tmp_path / "out" / "trial.md").read_text("utf-8")
    assert "![Rates](rates.svg)" in markdown
    assert "a \\| b" in markdown
    assert "HOLDS: a | b" in findings.lines()


def test_an_interrupted_experiment_goes_on(tmp_path):
    first = Trial(stop_at="b")
    with pytest.raises(KeyboardInterrupt):
        run(first.experiment, tmp_path)
    again = Trial()
    run(again.experiment, tmp_path)

    assert first.measured == ["a"]
    assert first.is_closed
    assert again.is_closed
    assert again.measured == ["b", "c"]


def test_a_finished_one_is_not_measured_again_unless_asked(tmp_path):
    run(Trial().experiment, tmp_path)
    again, fresh = Trial(), Trial()
    run(again.experiment, tmp_path)
    run(fresh.experiment, tmp_path, fresh=True)

    assert again.measured == []
    assert fresh.measured == ["a", "b", "c"]


@pytest.mark.parametrize(
    "other", [{"size": 4}, {"size": 3, "environment": {"CPU": "another"}}], ids=["setting", "cpu"]
)
def test_what_was_measured_differently_is_not_mixed(tmp_path, other):
    run(Trial(size=3).experiment, tmp_path)
    before = (tmp_path / "results.json").read_bytes()

    with pytest.raises(AnalysisError, match="measured differently"):
        run(Trial(**other).experiment, tmp_path)
    assert (tmp_path / "results.json").read_bytes() == before


def test_redrawing_measures_nothing(tmp_path):
    run(Trial().experiment, tmp_path)
    (tmp_path / "rates.svg").unlink()
    findings = redraw("trial", draw, tmp_path)

    assert (tmp_path / "rates.svg").exists()
    assert findings.to_dict()["claims"][0]["judgement"] == "holds"


@pytest.mark.parametrize("text", ["", "{}", '{"version": 9}', "[1]"])
def test_a_file_that_holds_something_else_is_refused(tmp_path, text):
    (tmp_path / "results.json").write_text(text, encoding="utf-8")

    with pytest.raises(AnalysisError, match=r"results\.json: not"):
        redraw("trial", draw, tmp_path)


def test_without_results_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(AnalysisError, match="Run the experiment first"):
        redraw("trial", draw, tmp_path)


def test_results_of_another_experiment_are_refused(tmp_path):
    run(Trial().experiment, tmp_path)

    with pytest.raises(AnalysisError, match="'trial', not 'other'"):
        redraw("other", draw, tmp_path)
