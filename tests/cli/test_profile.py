import json
import sys

import pytest

from penstock.cli.main import main

MODULE = """
from PIL import Image

def turn(image):
    return image.rotate(90)

steps = [turn, lambda image: image.resize((8, 8))]

def make_steps():
    return steps

class Photos:
    files = ["a", "b"]

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return Image.new("RGB", (8, 8))

number = 3
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    """A folder with a user's module, and an import path that is put back."""
    (tmp_path / "my_training.py").write_text(MODULE)
    (tmp_path / "does_not_import.py").write_text("import no_such_library")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("my_training", None)


@pytest.mark.parametrize("place", ["my_training", "my_training.py", "./my_training.py"])
@pytest.mark.parametrize("name", ["steps", "make_steps"])
def test_a_pipeline_on_made_photos(place, name, capsys):
    assert main(["profile", f"{place}:{name}", "--samples", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert [op["name"] for op in found["ops"]] == ["turn", "<lambda>"]
    assert found["samples"] == 4


def test_a_dataset_class_is_made(capsys):
    assert main(["profile", "my_training:Photos"]) == 0
    out = capsys.readouterr().out

    assert out.startswith("Photos: ")
    assert "slowest files" in out
    assert " ms  a\n" in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_training", "my_training: names no object"),
        (":steps", ":steps: names no object"),
        ("no_such_module:x", "No module named 'no_such_module'). Check the name"),
        ("no_such.py:x", "no_such.py: no such file"),
        ("does_not_import:x", "No module named 'no_such_library'"),
        ("my_training:wrong", "my_training:wrong: my_training has no wrong"),
        ("my_training:number", "int is neither a Dataset"),
    ],
)
def test_what_cannot_be_loaded(name, message, capsys):
    assert main(["profile", name]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_images(tmp_path, capsys):
    assert main(["profile", "my_training:steps", "--images", str(tmp_path)]) == 2
    assert "there are no images" in capsys.readouterr().err
