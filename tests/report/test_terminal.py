import io
from dataclasses import replace

import pytest
from rich.console import Console

import analysis_samples
from penstock.analysis.analyze import without_conclusions
from penstock.report import print_terminal


def printed(analysis, before=None, width=100):
    file = io.StringIO()
    print_terminal(analysis, before=before, console=Console(file=file, width=width))
    return file.getvalue()


def test_what_matters_is_printed():
    text = printed(analysis_samples.full())

    for part in (
        "decode-bound",
        "Decoding JPEGs holds training back",
        "an emulated accelerator",
        "660 images/s",
        "1,700 on fresh batches",
        "on 2 cores",
        "1,720 µs",
        "penstock pack train train.pen",
        "4 checked predictions: off by 2.5\u00a0%",
    ):
        assert part in text


def test_the_largest_gain_comes_first():
    text = printed(analysis_samples.full())

    assert text.index("Pack the data set") < text.index("Use 8 CPU cores")


def test_bars_are_as_long_as_the_rates():
    lines = printed(analysis_samples.full()).splitlines()
    lengths = {line[:21].strip(): line.count("█") for line in lines if "█" in line}

    assert lengths["accelerator, assumed"] == 24
    assert lengths["pipeline alone"] == 24 * 660 // 2400


def test_the_whole_fits_a_screen():
    hostile = replace(
        analysis_samples.full(),
        ops=analysis_samples.full().ops * 3,
        advice=analysis_samples.full().advice * 3,
    )
    lines = printed(hostile, width=80).splitlines()

    assert len(lines) <= 40
    assert not [line for line in lines if "█" in line and "…" in line]


def test_what_is_predicted_has_a_star():
    text = printed(analysis_samples.full())

    assert "660 " in text
    assert "1,290*" in text
    assert "* predicted" in text


def test_lost_time_is_split():
    assert "71\u00a0% waiting for images to be prepared" in printed(
        analysis_samples.full(), width=200
    )


def test_before_and_after():
    text = printed(analysis_samples.improved(), before=analysis_samples.full())

    loader, training = (text.index(f"{what} the rate before") for what in ("16.7×", "3.85×"))  # noqa: RUF001
    assert loader < training  # what was measured comes before what rests on an assumption
    assert "3.85× the rate before if your accelerator took 2,400 images/s" in text  # noqa: RUF001
    assert "before: end to end" in text
    assert "after: end to end" in text


def test_gains_of_advice_have_their_condition():
    text = printed(analysis_samples.full())

    assert "with gains of training if your accelerator took 2,400 images/s:" in text
    assert "left out for lack of time: images 320 pixels high" in text


def test_doubtful_figures_are_a_banner_without_bars_and_advice():
    text = printed(without_conclusions(analysis_samples.full(), "No verdict: a busy machine."))

    assert text.startswith("No verdict: a busy machine.")
    for absent in ("no verdict ", "pipeline alone  ", "CPU cores", "Pack the data set"):
        assert absent not in text


def test_a_minimal_analysis_is_two_lines():
    assert len(printed(analysis_samples.minimal()).splitlines()) == 2


@pytest.mark.parametrize("width", [20, 60, 200])
def test_markup_of_others_is_shown_as_it_is(width):
    text = printed(analysis_samples.hostile(), width=width)

    assert "alert" in text


def test_names_cannot_steer_the_terminal():
    text = printed(replace(analysis_samples.minimal(), title="a\x1b[2Jb\x07c", sentence="\x9b2J"))

    assert r"a\x1b[2Jb\x07c" in text
    assert not set(text) & {"\x1b", "\x07", "\x9b"}


def test_a_terminal_of_ascii_gets_ascii(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))

    print_terminal(analysis_samples.full())

    assert b"pipeline alone" in raw.getvalue()
    assert b"######" in raw.getvalue()
