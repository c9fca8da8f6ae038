import json
from dataclasses import replace

import pytest

import analysis_samples
from penstock.errors import AnalysisError
from penstock.results.from_json import analysis_from_dict, read_analysis

SAMPLES = ("minimal", "full", "improved", "hostile")


@pytest.mark.parametrize("name", SAMPLES)
def test_json_gives_the_same_analysis_back(name):
    analysis = getattr(analysis_samples, name)()

    assert analysis_from_dict(json.loads(json.dumps(analysis.to_dict()))) == analysis


def test_a_file_gives_the_same_analysis_back(tmp_path):
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(analysis_samples.full().to_dict()), encoding="utf-8")

    assert read_analysis(str(path)) == analysis_samples.full()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "lazy"}, "analysis.verdict: must be one of 'accelerator-bound', "),
        ({"batch_size": -1}, "analysis.batch_size: expected a whole number of 0 or more, got -1"),
        ({"batch_size": True}, "analysis.batch_size: expected a whole number"),
        ({"title": None}, "analysis.title: expected text, got None"),
        ({"is_emulated": 1}, "analysis.is_emulated: expected true or false, got 1"),
        ({"stall": float("nan")}, "analysis.stall: expected a finite number, got nan"),
        ({"stall": 10**400}, "analysis.stall: expected a finite number"),
        ({"stall_parts": {"fetch": "all"}}, "analysis.stall_parts.fetch: expected a number"),
        ({"evidence": "all of it"}, "analysis.evidence: expected a list, got 'all of it'"),
        ({"synthetic": {"median": 1}}, "analysis.synthetic: entry 'least' is missing"),
        ({"ops": [{"colour": 1}]}, r"analysis.ops\[0\]: unknown entry 'colour'"),
        ({"slowest_files": [["a", 1, 2]]}, r"slowest_files\[0\]: expected 2 entries, got 3"),
        ({"steps": {"waited": [1], "computed": []}}, "1 entries in 'waited' but 0 in 'computed'"),
        ({"environment": []}, r"analysis.environment: expected an object, got \[\]"),
    ],
)
def test_errors_name_the_entry(changes, message):
    values = analysis_samples.full().to_dict() | changes

    with pytest.raises(AnalysisError, match=message):
        analysis_from_dict(values)


@pytest.mark.parametrize("values", [None, [], 3, "text", {}])
def test_other_json_is_refused(values):
    with pytest.raises(AnalysisError, match="analysis"):
        analysis_from_dict(values)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_files_that_are_not_json_are_named(tmp_path, text):
    path = tmp_path / "figures.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(AnalysisError, match=r"figures\.json: not JSON"):
        read_analysis(str(path))


def test_a_missing_file_is_named():
    with pytest.raises(AnalysisError, match=r"gone\.json: No such file"):
        read_analysis("gone.json")


def test_a_prediction_of_nothing_has_no_error():
    prediction = replace(analysis_samples.full().predictions[0], measured=0.0)

    assert prediction.error is None
