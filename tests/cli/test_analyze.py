"""What `penstock analyze` prints and writes; what it measures is tested with the analysis."""

import json

import pytest

import analysis_samples
from penstock.cli.main import main
from penstock.demo.sample_set import make_sample_set
from penstock.errors import AnalysisError
from penstock.progress import shown_measurements
from penstock.report import vega


@pytest.fixture
def photos(tmp_path):
    return str(make_sample_set(tmp_path / "photos", images=8, progress=False))


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "earlier.json"
    path.write_text(json.dumps(analysis_samples.full().to_dict()), encoding="utf-8")
    return str(path)


@pytest.fixture
def _analyzed(monkeypatch):
    def analyze(*_, **__):
        return analysis_samples.improved()

    monkeypatch.setattr("penstock.analysis.analyze.analyze", analyze)


@pytest.mark.usefixtures("_analyzed")
def test_an_earlier_analysis_is_shown_beside(photos, earlier, tmp_path, capsys):
    report = tmp_path / "report.html"

    assert main(["analyze", photos, "--before", earlier, "--html", str(report)]) == 0
    printed = capsys.readouterr().out
    assert "training: 3.85× the rate before" in printed  # noqa: RUF001
    assert printed.endswith(f"wrote {report}\n")
    assert "as fast as before" in report.read_text(encoding="utf-8")


def test_what_is_measured_is_told_in_lines_where_there_is_no_terminal(photos, monkeypatch, capsys):
    def analyze(*_, progress, seconds, **__):
        progress("the step alone", 2, 25)
        assert seconds == 7.5
        return analysis_samples.improved()

    monkeypatch.setattr("penstock.analysis.analyze.analyze", analyze)

    assert main(["analyze", photos, "--seconds", "7.5", "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == "measuring 2 of 25: the step alone\n"
    assert json.loads(told.out)["assumption"] == "if your accelerator took 2,400 images/s"


def test_a_terminal_shows_a_bar_with_an_end(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with shown_measurements() as tell:
        tell("the step alone", 2, 25)
        tell("the pipeline alone", 3, 24)

    shown = capsys.readouterr().err
    assert "measuring the pipeline alone" in shown
    assert "2 of 24" in shown


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf"])
def test_seconds_are_a_time(text, photos, capsys):
    with pytest.raises(SystemExit):
        main(["analyze", photos, "--seconds", text])
    assert f"must be seconds, above 0, got '{text}'" in capsys.readouterr().err


def test_a_report_that_cannot_be_drawn_is_told_before_measuring(photos, monkeypatch, capsys):
    def missing():
        raise AnalysisError('Install it with: pip install "penstock[report]"')

    def analyze(*_, **__):
        pytest.fail("measured although the report cannot be drawn")

    monkeypatch.setattr(vega, "chart_script", missing)
    monkeypatch.setattr("penstock.analysis.analyze.analyze", analyze)

    assert main(["analyze", photos, "--html", "report.html"]) == 2
    assert "penstock[report]" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["analyze", "photos"], ["demo"]])
def test_a_missing_folder_is_told_before_measuring(verb, tmp_path, capsys):
    target = tmp_path / "missing" / "report.html"

    assert main([*verb, "--html", str(target)]) == 2
    assert f"there is no folder {target.parent}" in capsys.readouterr().err
