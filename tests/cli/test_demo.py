"""What the demo measures, and how it tells."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_loaders import DifferingTorchvision, FakePenstock, FakeTorchvision, MissingTorchvision
from penstock.cli import demo_measure
from penstock.cli.demo_loaders import Work
from penstock.cli.demo_measure import measure
from penstock.cli.demo_report import PENSTOCK, TORCHVISION, Report, Row, duration
from penstock.cli.main import main
from penstock.sample_set import make_sample_set

FAKES: dict[str, Callable[[Work], object]] = {PENSTOCK: FakePenstock, TORCHVISION: FakeTorchvision}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_sample_set(tmp_path_factory.mktemp("demo") / "set", images=8, progress=False)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_measure, "available_cores", lambda: 2)


def test_every_loader_runs_on_one_core_and_on_all(folder: Path) -> None:
    report = measure(Work(str(folder), 4), passes=3, compare=5, sides=FAKES)
    assert [(row.loader, row.cores) for row in report.rows] == [
        (PENSTOCK, 1), (TORCHVISION, 1), (PENSTOCK, 2), (TORCHVISION, 2)
    ]  # fmt: skip
    assert [len(row.images_per_s) for row in report.rows] == [3, 3, 3, 3]
    assert report.rows[2].to_dict()["images_per_s"] == 800
    assert report.rows[2].to_dict()["ratio_to_torchvision"] == 4
    assert (report.identical, report.compared, report.all_identical) == (5, 5, True)


def test_without_torchvision_ours_is_shown_with_a_hint(folder: Path) -> None:
    sides = {**FAKES, TORCHVISION: MissingTorchvision}
    report = measure(Work(str(folder), 4), passes=1, compare=5, sides=sides)
    assert [row.loader for row in report.rows] == [PENSTOCK, PENSTOCK]
    assert report.rows[0].ratios is None
    assert "No module named 'torch'. To compare: pip install torch torchvision" in report.notes[0]


def test_on_one_core_there_is_one_comparison(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_measure, "available_cores", lambda: 1)
    report = measure(Work(str(folder), 4), passes=1, compare=1, sides=FAKES)
    assert [row.cores for row in report.rows] == [1, 1]


def test_the_verb_prints_json_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_measure.measure, "__kwdefaults__", {"sides": FAKES})
    arguments = ["demo", "--folder", str(folder), "--images", "8", "--passes", "2", "--json"]
    assert main(arguments) == 0
    printed = capfd.readouterr()
    assert printed.err == ""
    result = json.loads(printed.out)
    assert result["photos"] == 8
    assert result["images_identical"] == result["images_compared"] == 16
    assert [row["cores"] for row in result["rows"]] == [1, 1, 2, 2]


def test_differing_images_end_in_an_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sides = {**FAKES, TORCHVISION: DifferingTorchvision}
    monkeypatch.setattr(demo_measure.measure, "__kwdefaults__", {"sides": sides})
    assert main(["demo", "--folder", str(folder), "--images", "8", "--passes", "1"]) == 1
    assert "15 of 16 images compared are bit-identical" in capfd.readouterr().out


def test_the_table_fits_a_terminal(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 columns, with figures as large as they will ever be."""
    monkeypatch.setenv("COLUMNS", "80")
    rates, ratios = (123_456.7, 134_567.8), (18.24, 18.24)
    rows = [
        Row(name, version, 128, rates, ratios, 12.3)
        for name, version in ((PENSTOCK, "0.10.12"), (TORCHVISION, "0.28.0"))
    ]
    Report(Work(str(folder), 64), 5, rows, 16, 16).print()
    printed = capfd.readouterr().out
    table = [line for line in printed.splitlines() if "123,457-134,568" in line]
    assert len(table) == 2
    assert "…" not in printed
    assert "18.24x" in table[0]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0000123, "12 µs"), (0.0456, "46 ms"), (1.234, "1.2 s"), (75, "75.0 s")]
)
def test_durations_have_sensible_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_square_brackets_in_a_folder_are_not_markup(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Report(Work(str(tmp_path / "[red]x"), 64), 5).print()
    assert "[red]x" in capfd.readouterr().out
