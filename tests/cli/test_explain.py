"""`penstock explain`, by the command line."""

import json

import pytest

from penstock.cli.main import main

SCRIPT = """
from torchvision import transforms

transform = transforms.Compose(
    [transforms.ColorJitter(0.4), transforms.RandomCrop(16), transforms.ToTensor()]
)
"""


@pytest.fixture
def script(torchvision, tmp_path, monkeypatch, make_folder):
    del torchvision
    monkeypatch.chdir(tmp_path)
    (tmp_path / "listed.py").write_text(SCRIPT)
    photos = make_folder()
    return [
        "explain", "listed.py:transform", "--images", str(photos), "--samples", "3",
        "--seconds", "0.1",
    ]  # fmt: skip


def test_the_table_is_printed(script, capsys):
    assert main(script) == 0
    told = capsys.readouterr().out

    assert "its transforms on 3 images" in told
    assert "ColorJitter" in told
    assert "together" in told


def test_the_figures_are_json(script, capsys):
    assert main([*script, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)

    assert [op["place_after"] for op in figures["ops"]] == [1, 0, 2]


def test_a_rule_that_is_not_there_ends_with_a_sentence(script, capsys):
    assert main([*script, "--allow", "no_such_rule"]) == 2
    assert "'no_such_rule', which is no rule" in capsys.readouterr().err
