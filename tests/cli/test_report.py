import json

import pytest

import analysis_samples
from penstock.cli.main import main


@pytest.fixture
def figures(tmp_path):
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(analysis_samples.full().to_dict()), encoding="utf-8")
    return str(path)


def test_the_terminal_view_is_the_default(figures, capsys):
    assert main(["report", figures]) == 0
    assert "decode-bound" in capsys.readouterr().out


def test_html_is_written(figures, tmp_path, capsys):
    target = tmp_path / "report.html"

    assert main(["report", figures, "--html", str(target), "--before", figures]) == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out == f"wrote {target}\n"


def test_json_is_what_was_read(figures, capsys):
    assert main(["report", figures, "--json"]) == 0
    with open(figures, encoding="utf-8") as file:
        assert json.loads(capsys.readouterr().out) == json.load(file)


def test_other_files_are_refused(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")

    assert main(["report", str(path)]) == 2
    assert "other.json: analysis: entry 'title' is missing." in capsys.readouterr().err
