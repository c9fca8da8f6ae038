"""`penstock plan`."""

import json
import re

import pytest

from penstock.cli.main import main
from penstock.planner.prices import Prices

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


def test_the_plan_in_tables(large_folder, pipelines, capsys):
    assert main(["plan", str(large_folder), "--transform", f"{pipelines}:late_crop"]) == 0
    told = capsys.readouterr().out
    assert "as written" in told
    assert "RandomRotation" in told
    assert "as planned" in told
    assert "not taken, since results would change:" in told
    assert 'Loader(..., allow=("contrast_on_crop",))' in told


def test_json_and_what_was_allowed(large_folder, pipelines, capsys):
    arguments = ["plan", str(large_folder), "--transform", f"{pipelines}:late_crop", "--json"]
    assert main([*arguments, "--allow", "contrast_on_crop"]) == 0
    figures = json.loads(capsys.readouterr().out)
    used = {rule["name"] for rule in figures["rules"]}
    assert {"contrast_on_crop", "window_of_warp"} <= used
    assert figures["planned_us"] < figures["written_us"]
    assert all(offer["name"] != "contrast_on_crop" for offer in figures["offers"])


def test_measured_savings(large_folder, pipelines, capsys):
    place = f"{pipelines}:late_crop"
    assert (
        main(["plan", str(large_folder), "--transform", place, "--fidelity", "fast", "--measure"])
        == 0
    )
    told = capsys.readouterr().out
    assert "measured, +-" in told
    assert "measured  what" in told


def test_functions_are_named_with_what_they_cost(large_folder, pipelines, capsys):
    assert main(["plan", str(large_folder), "--transform", f"{pipelines}:own"]) == 0
    told = capsys.readouterr().out
    assert "<lambda> (Python)" in told
    assert "moves nothing past it" in told


def test_a_calibration_says_what_it_did_and_is_remembered(
    large_folder, pipelines, capsys, monkeypatch
):
    monkeypatch.setattr("penstock.costs.calibrate.calibrate", lambda _: Prices.default())
    assert main(["plan", "--calibrate"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^measured what \d+ kinds of work cost on one core of this machine", told)
    assert "from now on, plans are made with these prices" in told
    planning = ["plan", str(large_folder), "--transform", f"{pipelines}:late_crop"]
    assert main(planning) == 0
    assert "; prices measured on this machine" in capsys.readouterr().out
    assert main([*planning, "--calibrate"]) == 0
    assert "kinds of work" in capsys.readouterr().out.splitlines()[0]
    assert main([*planning, "--calibrate", "--json"]) == 0
    assert "written_us" in json.loads(capsys.readouterr().out)
    assert main(["plan", "--calibrate", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"prices", "kinds_of_work", "seconds"}


def test_boxes_come_along(coco_folder, tmp_path, capsys):
    """A crop that looks at boxes can only be planned with them; views leave them out."""
    file = tmp_path / "boxes.py"
    file.write_text(
        "from penstock import transforms as T\n"
        "crop = T.Compose([T.RandomIoUCrop(), T.Resize((32, 32))])\n"
        "views = T.MultiView([T.RandomResizedCrop(32)] * 2)\n"
    )
    for name in ("crop", "views"):
        data = str(coco_folder / "instances.json")
        assert main(["plan", data, "--transform", f"{file}:{name}"]) == 0
        assert "as written" in capsys.readouterr().out


def test_a_preset(large_folder, capsys):
    assert main(["plan", str(large_folder)]) == 0
    assert "RandomResizedCrop" in capsys.readouterr().out


def test_mistakes_are_told(large_folder, capsys):
    assert main(["plan"]) == 2
    assert "no data set given" in capsys.readouterr().err
    assert main(["plan", str(large_folder), "--allow", "magic"]) == 2
    assert "each of allow must be one of" in capsys.readouterr().err
