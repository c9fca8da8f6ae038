"""The demo's story: what it measures, and how it tells."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import analysis_samples
from fake_loaders import FakeSide, FastSide
from penstock.analysis.measure import Effort
from penstock.cli.main import main
from penstock.demo import story as demo_story
from penstock.demo.loaders import Work, pillow_loader
from penstock.demo.passes import Row
from penstock.demo.result import STARVING, Packing, Result, duration, print_story
from penstock.demo.story import Length, starving_rate, tell_story
from penstock.errors import AnalysisError
from penstock.report import vega

SHORTEST = Length(Effort(rounds=1, seconds=0.05), passes=1, sweeps=False)


@pytest.fixture
def _no_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaders that need no imports stand in for those that are timed in turn."""
    monkeypatch.setattr(
        demo_story, "_sides", lambda plain: {plain.label: FakeSide, "penstock, packed": FastSide}
    )


@pytest.fixture
def result() -> Result:
    """A result with figures as large as they will ever be."""
    rates, ratios = (123_456.7, 134_567.8), (18.24, 18.24)
    return Result(
        work=Work("[red]photos", "photos.pen", 64),
        plain="torchvision 0.28.0",
        plain_rate=610.0,
        before=analysis_samples.full(),
        packing=Packing(512, 60_000_000, 62_000_000, 3.4),
        after=analysis_samples.improved(),
        passes=2,
        rows=[
            Row(name, 128, rates, ratios, 12.3)
            for name in ("torchvision 0.28.0", "penstock, packed")
        ],
        identical=64,
        compared=64,
        report="/home/me/[bold]/report.html",
    )


@pytest.mark.parametrize(
    ("plain", "accelerator"), [(525.3, 2100), (133.0, 530), (1234.5, 4900), (2.4, 10), (0.1, 1)]
)
def test_the_accelerator_is_chosen_by_rule(plain: float, accelerator: int) -> None:
    assert starving_rate(plain) == accelerator
    assert STARVING * plain <= accelerator * 1.05


@pytest.mark.usefixtures("_no_passes")
def test_without_torchvision_the_story_is_told_with_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def import_torchvision() -> None:
        raise ImportError("No module named 'torch'")

    monkeypatch.setattr(demo_story, "import_torchvision", import_torchvision)
    monkeypatch.setattr(demo_story, "USUAL", SHORTEST)
    report = tmp_path / "report.html"
    arguments = ["demo", "--images", "24", "--batch-size", "4", "--folder", str(tmp_path / "set")]

    assert main([*arguments, "--html", str(report), "--json"]) == 0

    printed = capfd.readouterr()
    assert printed.err == ""
    told = json.loads(printed.out)
    assert told["before"]["title"].startswith('penstock.Loader(backend="pillow")')
    assert told["before"]["device"] == told["after"]["device"] == told["device"]
    assert told["device"] == f"emulated:{starving_rate(told['plain_images_per_s'])}"
    assert told["packing"]["images"] == 24
    assert told["images_identical"] == told["images_compared"] == 24
    assert {row["loader"] for row in told["rows"]} == {"penstock, Pillow", "penstock, packed"}
    assert "pip install torch torchvision" in told["notes"][0]
    assert told["report"] == str(report)
    assert "Before" in report.read_text(encoding="utf-8")


@pytest.mark.usefixtures("_no_passes")
def test_with_torchvision_its_data_loader_is_the_plain_pipeline(
    tmp_path: Path, torchvision: object
) -> None:
    del torchvision  # skips the test where there is none
    from penstock.demo.sample_set import make_sample_set

    folder = make_sample_set(tmp_path / "set", images=24, progress=False)
    told = tell_story(str(folder), 4, SHORTEST)
    assert told.before.title.startswith("torchvision ImageFolder + DataLoader")
    assert told.plain.startswith("torchvision ")
    assert {op.runs_in for op in told.before.ops} & {"Pillow", "torch"}
    assert told.notes == []
    assert told.all_identical


def test_the_plain_loader_is_the_reference_of_the_others() -> None:
    plain = demo_story.Plain("plain", "a title", pillow_loader, has_torchvision=False)
    sides = demo_story._sides(plain)
    assert list(sides) == ["plain", "penstock, folder", "penstock, packed"]


def test_differing_images_end_in_an_exit_code(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differing = replace(result, identical=63)
    monkeypatch.setattr(demo_story, "tell_story", lambda *_: differing)
    arguments = ["demo", "--images", "2", "--folder", str(tmp_path / "set")]
    assert main([*arguments, "--html", str(tmp_path / "report.html")]) == 1


def test_without_the_charts_the_story_is_told_with_a_hint(
    result: Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def missing() -> str:
        raise AnalysisError('Install it with: pip install "penstock[report]"')

    untold = replace(result, report=None)
    monkeypatch.setattr(demo_story, "tell_story", lambda *_: untold)
    monkeypatch.setattr(vega, "chart_script", missing)
    assert main(["demo", "--images", "2", "--folder", str(tmp_path / "set")]) == 0
    printed = capsys.readouterr().out
    assert 'pip install "penstock[report]"' in printed
    assert "in one page" not in printed


def test_the_story_fits_a_terminal(
    result: Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_story(result)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line.endswith(" ")]
    table = [line for line in lines if "123,457-134,568" in line]
    assert len(table) == 2
    assert "18.24x" in table[0]
    text = " ".join(" ".join(lines).split())
    measured = "penstock on the packed file gives 129,012 images/s, torchvision"
    assert text.index(measured) < text.index("bit-identical") < text.index("The accelerator is")
    assert "is made up: 2,400 images/s, 4 times what the plain pipeline delivers" in text
    assert "so 4 times is the most that training could gain here" in text
    assert "as fast." not in text
    assert any("decode-bound" in line for line in lines)
    assert any("64 of 64 images compared are bit-identical" in line for line in lines)


def test_square_brackets_are_not_markup(result: Result, capsys: pytest.CaptureFixture[str]) -> None:
    print_story(result)
    assert "/home/me/[bold]/report.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0000123, "12 µs"), (0.0456, "46 ms"), (1.234, "1.2 s"), (75, "75.0 s")]
)
def test_durations_have_sensible_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
