import json

import pytest

from benchmarks import plan_costs
from benchmarks.plan_costs import Check, main, report, summary, table
from benchmarks.plan_pipelines import pipelines


def check(predicted, measured, name="crop"):
    return Check(name, "photos, .pen", "exact", predicted, measured, measured - 1, measured + 1)


def test_there_are_forty_different_pipelines():
    chosen = pipelines()
    settings = {(one.name, one.data, one.form, one.setting) for one in chosen}

    assert len(settings) == len(chosen) == 40
    assert {one.form for one in chosen} == {"files", ".pen"}
    assert {one.setting for one in chosen} == {"exact", "fast", "as written"}


def test_median_and_worst_error_are_named():
    text = summary([check(110, 100), check(100, 100), check(50, 100, "rotate")])

    assert "10.0% in the median" in text
    assert "50.0% at worst (rotate; photos, .pen; exact)" in text


def test_the_table_has_signs():
    lines = table([check(110, 100), check(80, 100)])

    assert "+10%" in lines[2]
    assert "-20%" in lines[3]


def test_results_are_written_for_people_and_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_costs, "RESULT", tmp_path / "plan_costs")
    checks = [check(110, 100)]

    plan_costs.write(checks, report(checks, 3), "python -m benchmarks.plan_costs")

    assert "| crop " in (tmp_path / "plan_costs.md").read_text()
    assert json.loads((tmp_path / "plan_costs.json").read_text())["checks"][0]["error"] == 0.1


def test_a_name_that_no_pipeline_has_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "nothing like it"])
    assert "at least one pipeline" in capsys.readouterr().err
