"""Text from files is made safe to print, wherever it leaves for a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from packing.samples import ListSource, image_file
from penstock import PackError, PenstockError, SourceError, TranslationError, pack
from penstock.cli.main import main
from penstock.packing.items import LABEL, Column, PackItem
from penstock.printable import in_encoding, printable, printable_lines, safe_console
from penstock.progress import ProgressBar

# The title of the terminal, a line that is overwritten, a forged line, reading direction, an
# invisible character, a byte that is not UTF-8, one that ends C1 sequences, and one beyond 16 bits.
HOSTILE = (
    "a\x1b]0;owned\x07",
    "b\rpenstock: all is well",
    "c\npenstock: all is well",
    "d\u202egpj.exe",
    "e\u200bf",
    "g\udcff",
    "h\x9b2Ji\u2028",
    "j\U000e0041",
)


def steering(text: str) -> list[str]:
    """What a terminal must not be given; line feeds are the caller's to judge."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}
    return [c for c in text if c != "\n" and unicodedata.category(c) in kinds]


def test_what_steers_a_terminal_is_spelled_out() -> None:
    assert printable("a\x1b[2J") == r"a\x1b[2J"
    assert printable("a\nb\r\tc") == r"a\nb\r\tc"
    assert printable("a\u202eb") == r"a\u202eb"
    assert printable(b"a\xff") == r"a\udcff"
    assert printable("\U000e0041") == r"\U000e0041"
    assert printable(Path("x/y z.jpg")) == "x/y z.jpg"


def test_names_in_any_script_stay_as_they_are() -> None:
    for name in ("Größe", "猫　犬", "кошка", "قطة", "n\u00b0 5", "🐈", r"a\x1b"):
        assert printable(name) == name


def test_long_text_loses_its_middle() -> None:
    text = printable("a" * 5_000 + "end")
    assert len(text) < 1_100
    assert text.endswith("end")
    assert "(4,003 characters)" in text


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_becomes_one_safe_line(text: str) -> None:
    safe = printable(text)
    assert not steering(safe)
    assert "\n" not in safe
    assert printable(safe) == safe
    assert not steering(printable_lines(text))
    in_encoding(text, "ascii").encode("ascii")


@pytest.mark.parametrize("name", HOSTILE)
def test_errors_are_safe_whatever_they_quote(name: str) -> None:
    for error in (PenstockError(name), SourceError(name), PackError(name)):
        assert not steering(str(error))
    assert "\n" not in str(SourceError(name))
    assert str(TranslationError("two\n- reasons", ())) == "two\n- reasons"


def test_bars_and_consoles_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table

    file = io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii")
    console = safe_console(file=file, width=200, markup=False)
    table = Table("name")
    for name in HOSTILE:
        table.add_row(name)
        console.print(name)
        console.print(f"[bold]{name}", style="bold")
        with ProgressBar(name, total=2, show=True, quiet_for_s=0) as bar:
            bar.advance(title=f"at {name}")
    console.print(table)
    file.flush()
    assert not steering(raw.getvalue().decode("ascii"))
    assert not steering(capsys.readouterr().err)


def test_colours_are_still_ours_to_give() -> None:
    file = io.StringIO()
    console = safe_console(file=file, force_terminal=True, color_system="standard", highlight=False)
    console.print("a\x1b[2J", style="bold")
    assert file.getvalue() == "\x1b[1ma\\x1b[2J\x1b[0m\n"


@pytest.fixture
def hostile_folder(tmp_path: Path) -> Path:
    """Classes and files with such names, and one file that is no image."""
    root = tmp_path / "da\x1b]0;ta"
    for number, name in enumerate(HOSTILE):
        (root / name).mkdir(parents=True)
        for copy in range(2):
            data = image_file(number, format="JPEG" if copy else "PNG")
            (root / name / f"{copy}{name}{'.jpg' if copy else '.png'}").write_bytes(data)
    return root


@pytest.fixture
def hostile_pack(tmp_path: Path) -> Path:
    """A packed file whose names, classes and values are hostile; names of columns cannot be."""
    items = [
        PackItem(
            f"{name}/{number}.png",
            image_file(number, format="PNG"),
            {"label": number, "remark": name},
        )
        for number, name in enumerate(HOSTILE)
    ]
    target = tmp_path / "pa\u202eck\x1b.pen"
    pack(ListSource(items, (LABEL, Column("remark", "text")), HOSTILE, None), target)
    return target


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_every_verb_prints_safely(
    hostile_folder: Path,
    hostile_pack: Path,
    tmp_path: Path,
    encoding: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "o\rut"
    out.mkdir()
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding) for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)

    def run(*arguments: object) -> int:
        try:
            return main([str(argument) for argument in arguments])
        except SystemExit as exit_:
            return int(exit_.code or 0)

    packed, folder = hostile_pack, hostile_folder
    assert run("pack", folder, out / "a.pen") == 0
    assert run("pack", folder, out / "a.pen") == 2
    assert run("inspect", out / "a.pen", "--sheet", out / "a.png") == 0
    assert run("verify", out / "a.pen", "--deep") == 0
    assert run("unpack", out / "a.pen", out / "unpa\x1bcked") == 0
    assert run("unpack", out / "a.pen", out / "unpa\x1bcked") == 2
    assert run("inspect", packed, "--sheet", out / "b.png") == 0
    assert run("inspect", packed, "--json") == 0
    assert run("verify", packed) == 0
    assert run("unpack", packed, out / "other") == 0
    assert run("show", folder, "--out", out / "sh\u202eow.png", "--images", "8") == 0
    assert run("show", packed, "--out", out / "show.png", "--images", "3") == 0
    assert run("verify", folder) == 1
    assert run("verify", packed, folder) == 2  # one argument too many
    assert run("pack", folder, packed) == 2
    assert run("pack", folder / "no\rthing", out / "c.pen") == 2
    (folder / HOSTILE[0] / "b\x1b[2Jad.jpg").write_bytes(b"no image")
    assert run("pack", folder, out / "d.pen") == 2
    assert run("pack", folder, out / "d.pen", "--resume", "--on-error=skip") == 0
    with packed.open("r+b") as file:
        file.seek(70)
        file.write(b"damage")
    assert run("verify", packed) == 1

    for stream in streams.values():
        stream.flush()
        text = stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
        check_safe(text)


def check_safe(text: str) -> None:
    """Nothing steers the terminal, and no name began a line."""
    assert not steering(text), text
    assert "penstock: all is well" not in text.splitlines()
    assert "Traceback" not in text


def test_run_prints_safely_without_any_locale(hostile_folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "tr\x1bain.py"
    script.write_text(
        "import penstock, sys\n"
        "for _ in penstock.Loader(sys.argv[1], output='numpy', batch_size=8,\n"
        "                         transform=penstock.transforms.Resize((8, 8))): pass\n"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "run", script, hostile_folder],
        capture_output=True,
        timeout=60,
        check=False,
        env={**environment, "PENSTOCK_CACHE": str(tmp_path / "cache")},
    )
    told = done.stderr.decode("ascii")
    assert done.returncode == 0, told
    check_safe(told)
    assert r"tr\x1bain.py:2" in told
