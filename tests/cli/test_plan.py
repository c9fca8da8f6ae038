"""`penstock plan`."""

import json

import pytest

from penstock.cli.main import main

PIPELINE = """
from penstock import transforms as T

late_crop = T.Compose([
    T.RandomHorizontalFlip(), T.RandomRotation(30), T.ColorJitter(0.4, 0.4), T.CenterCrop(32),
])
own = T.Compose([T.Resize(64), lambda image: image, T.CenterCrop(32)])
"""


@pytest.fixture
def pipelines(tmp_path):
    file = tmp_path / "pipelines.py"
    file.write_text(PIPELINE)
    return file


def test_the_plan_in_tables(folder, pipelines, capsys):
    assert main(["plan", str(folder), "--transform", f"{pipelines}:late_crop"]) == 0
    told = capsys.readouterr().out
    assert "as written" in told
    assert "RandomRotation" in told
    assert "as planned" in told
    assert "not taken, since results would change:" in told
    assert 'Loader(..., allow=("contrast_on_crop",))' in told


def test_json_and_what_was_allowed(folder, pipelines, capsys):
    arguments = ["plan", str(folder), "--transform", f"{pipelines}:late_crop", "--json"]
    assert main([*arguments, "--allow", "contrast_on_crop"]) == 0
    figures = json.loads(capsys.readouterr().out)
    used = {rule["name"] for rule in figures["rules"]}
    assert {"contrast_on_crop", "window_of_warp"} <= used
    assert figures["planned_us"] < figures["written_us"]
    assert all(offer["name"] != "contrast_on_crop" for offer in figures["offers"])


def test_measured_savings(folder, pipelines, capsys):
    place = f"{pipelines}:late_crop"
    assert main(["plan", str(folder), "--transform", place, "--fidelity", "fast", "--measure"]) == 0
    told = capsys.readouterr().out
    assert "measured, +-" in told
    assert "measured  what" in told


def test_functions_are_named_with_what_they_cost(folder, pipelines, capsys):
    assert main(["plan", str(folder), "--transform", f"{pipelines}:own"]) == 0
    told = capsys.readouterr().out
    assert "<lambda> (Python)" in told
    assert "moves nothing past it" in told


def test_a_preset(folder, capsys):
    assert main(["plan", str(folder)]) == 0
    assert "RandomResizedCrop" in capsys.readouterr().out


def test_mistakes_are_told(folder, capsys):
    assert main(["plan"]) == 2
    assert "no data set given" in capsys.readouterr().err
    assert main(["plan", str(folder), "--allow", "magic"]) == 2
    assert "each of allow must be one of" in capsys.readouterr().err
