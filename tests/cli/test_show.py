"""`penstock show`: the sheet, the schedule, and what goes wrong."""

import json

import PIL.Image
import pytest

from packing.samples import ListSource
from penstock.cli.main import main
from penstock.drawing import GAP_PX, TEXT_PX
from penstock.packing.pack import pack
from penstock.showing.presets import PRESETS
from penstock.showing.sheet import CELL_PX


@pytest.fixture
def show(tmp_path, monkeypatch, capsys):
    """Run the verb in an empty folder; (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = main(["show", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_sheet(folder, show, tmp_path) -> None:
    code, told, _ = show(folder, "--images", 3, "--repeats", 2)
    assert code == 0
    assert told.startswith("wrote sheet.png: 3 images, each with 2 results (uint8, before")
    with PIL.Image.open(tmp_path / "sheet.png") as sheet:
        row = CELL_PX + TEXT_PX + GAP_PX
        assert sheet.size == (3 * (CELL_PX + GAP_PX) - GAP_PX, 3 * row + TEXT_PX)


def test_what_is_on_it(folder, show) -> None:
    code, told, _ = show(folder, "--images", 99, "--repeats", 1, "--seed", 4, "--json")
    sheet = json.loads(told)
    assert (code, sheet["file"], sheet["seed"]) == (0, "sheet.png", 4)
    assert [row["sample"] for row in sheet["rows"]] == list(range(23))
    assert [cell["epoch"] for cell in sheet["rows"][0]["cells"]] == [None, 0]
    assert sheet["rows"][0]["cells"][1]["height"] == 224


def test_seeds_and_nothing_else_change_it(folder, show, tmp_path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        show(folder, "--images", 1, "--seed", seed, "--out", f"{name}.png")
    first, second, other = ((tmp_path / f"{name}.png").read_bytes() for name in "abc")
    assert first == second != other


def test_images_without_classes(folder, show) -> None:
    assert show(folder / "class_0", "--images", 1, "--repeats", 1)[0] == 0


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(folder, show, preset) -> None:
    code, _, told = show(folder, "--preset", preset, "--images", 1, "--repeats", 1)
    if preset in {"ssd", "ssdlite"}:  # they crop by what boxes there are
        assert (code, "RandomIoUCrop" in told) == (2, True)
    else:
        assert code == 0


def test_transforms_of_the_users(folder, show, tmp_path) -> None:
    (tmp_path / "sizes_of_mine.py").write_text("SIDE = 50\n")
    (tmp_path / "mine.py").write_text(
        "from penstock import transforms as T\n"
        "import sizes_of_mine\n"
        "class Config:\n    transform = T.CenterCrop(sizes_of_mine.SIDE)\n"
    )
    for place in ("mine.py:Config.transform", "mine:Config.transform"):
        code, told, _ = show(folder, "--transform", place, "--json")
        assert code == 0
        assert json.loads(told)["rows"][0]["cells"][1]["width"] == 50


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mine", "mine: names no object. Write FILE.py:OBJECT"),
        ("none.py:t", "none.py: no such file."),
        ("no.such.module:t", "no.such.module: cannot be imported (ModuleNotFoundError"),
        ("odd.py:t", "odd.py:t: odd.py has no t."),
        ("odd.py:number", "odd.py:number: 5 is not a transform."),
        ("fails.py:t", "fails.py: cannot be imported (ZeroDivisionError: division by zero)."),
        ("exits.py:t", "exits.py: cannot be imported (SystemExit: 1)."),
        ("penstock.transforms:RandAugment", "RandAugment is a class, not a transform."),
    ],
)
def test_what_is_no_transform(folder, show, tmp_path, place, message) -> None:
    (tmp_path / "odd.py").write_text("number = 5\n")
    (tmp_path / "fails.py").write_text("1 / 0\n")
    (tmp_path / "exits.py").write_text("raise SystemExit(1)\n")
    code, _, told = show(folder, "--transform", place)
    assert code == 2
    assert message in told


def test_data_and_files_that_are_not_there(folder, show, tmp_path) -> None:
    assert "no data set given" in show()[2]
    assert "no such file or folder" in show(tmp_path / "none")[2]
    assert "neither class folders nor images" in show(tmp_path)[2]
    code, _, told = show(folder, "--images", 1, "--out", "none/a.png")
    assert code == 2
    assert told.startswith("penstock: none/a.png: cannot be written")


def test_empty_data(show, tmp_path) -> None:
    pack(ListSource([]), tmp_path / "a.pen")
    told = show(tmp_path / "a.pen")[2]
    assert "a.pen: 0 packed images, no labels: there are no images to show" in told


def test_sheets_have_an_end(folder, show) -> None:
    code, _, told = show(folder, "--repeats", 200)
    assert code == 2
    assert "are 1,206 pictures, but a sheet has room for 1,000. Lower --images" in told


def test_schedule(show) -> None:
    code, told, _ = show("--schedule", "--epochs", "0, 60")
    assert code == 0
    assert "Epoch 0: the stage from epoch 0" in told
    assert "Epoch 60: the stage from epoch 50" in told


def test_schedule_of_the_users(show, tmp_path) -> None:
    stages = [{"from_epoch": n, "ops": [["Rotate", 0.5, n]]} for n in (0, 3)]
    written = {"epochs": 9, "counts": [0.5, 0.5], "stages": stages}
    (tmp_path / "mine.json").write_text(json.dumps(written))
    code, told, _ = show("--schedule", "mine.json", "--json")
    assert code == 0
    assert [epoch["epoch"] for epoch in json.loads(told)["epochs"]] == [0, 3]
    assert json.loads(told)["epochs"][1]["ops"][0]["level"] == 3


def test_schedules_that_are_wrong(folder, show) -> None:
    assert "none.json: cannot be read" in show("--schedule", "none.json")[2]
    assert "Leave out one of the two" in show(folder, "--schedule")[2]


@pytest.mark.parametrize("epochs", ["", "1,-2", "x"])
def test_epochs_are_checked(show, capsys, epochs) -> None:
    with pytest.raises(SystemExit):
        show("--schedule", "--epochs", epochs)
    assert "must be a whole number of 0 or more" in capsys.readouterr().err
