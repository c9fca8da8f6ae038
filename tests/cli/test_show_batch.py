"""`penstock show --epoch N --step N`: the batch of a loader, drawn and in words."""

import json

import PIL.Image
import pytest

from penstock import Loader
from penstock import transforms as T
from penstock.cli.main import main

SCRIPT = """
import penstock as ps
from penstock import transforms as T

CROP = T.Compose([T.RandomCrop(20), T.RandomHorizontalFlip()])


def loader():
    return ps.Loader({folder!r}, transform=CROP, batch_size=5, seed=9, output="numpy")


number = 3
"""


@pytest.fixture
def show(tmp_path, monkeypatch, capsys):
    """Run the verb in an empty folder; (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["show", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def script(folder, tmp_path):
    (tmp_path / "my_training.py").write_text(SCRIPT.format(folder=str(folder)))
    return "my_training.py"


def test_a_batch_of_a_data_set(folder, show, script, tmp_path):
    place = ("--epoch", 3, "--step", 2, "--batch-size", 4, "--seed", 5)
    code, told, _ = show(folder, "--transform", f"{script}:CROP", *place)
    assert code == 0
    assert told.startswith("wrote batch.png: epoch 3, step 2, 4 images (--json")
    with PIL.Image.open(tmp_path / "batch.png") as sheet:
        assert min(sheet.size) > 224
    _, told, _ = show(folder, "--transform", f"{script}:CROP", *place, "--json")
    found = json.loads(told)
    transform = T.Compose([T.RandomCrop(20), T.RandomHorizontalFlip()])
    loader = Loader(folder, transform=transform, batch_size=4, seed=5, shuffle=True)
    assert found == {"file": "batch.png", "shown": 4, **loader.batch_at(3, 2).to_dict()}
    assert [one["op"] for one in found["images"][0]["drawn"]] == [
        "RandomCrop",
        "RandomHorizontalFlip",
    ]


def test_order_and_ranks(folder, show):
    place = ("--epoch", 0, "--step", 1, "--batch-size", 4, "--preset", "classification", "--json")
    found = json.loads(show(folder, *place, "--no-shuffle", "--rank", 1, "--world-size", 2)[1])
    assert [image["sample"] for image in found["images"]] == [9, 11, 13, 15]
    assert (found["rank"], found["world_size"]) == (1, 2)


def test_a_loader_of_the_users(show, script):
    code, told, _ = show(f"{script}:loader", "--epoch", 1, "--step", 4, "--out", "a.png", "--json")
    found = json.loads(told)
    assert (code, found["file"], found["shown"]) == (0, "a.png", 3)
    assert found["images"][0]["sample"] == 20
    _, told, _ = show(f"{script}:loader", "--epoch", 1, "--step", 0, "--images", 2)
    assert "the first 2 of 5 images" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epoch", 1], "--epoch and --step belong together"),
        (["--batch-size", 1], "--batch-size is for one batch. Add --epoch and --step"),
        (["--no-shuffle"], "--shuffle is for one batch"),
        (["--epoch", 0, "--step", 0, "--rank", 1], "--rank and --world-size belong together"),
        (["--epoch", 0, "--step", 0, "--repeats", 1], "--repeats has no meaning for one batch"),
        (["--epoch", 0, "--step", 9], "step 9 of epoch 0, but the epoch has 1 steps"),
    ],
)
def test_what_does_not_fit(folder, show, arguments, message):
    code, _, told = show(folder, *arguments)
    assert code == 2
    assert message in told


def test_what_is_no_loader(show, script):
    place = ("--epoch", 0, "--step", 0)
    assert "number: is of type int, which cannot make" in show(f"{script}:number", *place)[2]
    assert "--seed: my_training.py:loader is a" in show(f"{script}:loader", *place, "--seed", 1)[2]
    assert "Add --epoch and --step, or name a data set" in show(f"{script}:loader")[2]
