"""`penstock experiment learning`: its options."""

import argparse

import pytest

from penstock.cli.experiment.learning import LEARNING, make
from penstock.cli.main import main
from penstock.errors import AnalysisError


def options(*arguments):
    parser = argparse.ArgumentParser()
    LEARNING.add_options(parser)
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(arguments)


def test_options_replace_those_of_the_run():
    whole, quick, own = (
        make(options(*arguments)).settings for arguments in ([], ["--quick"], ["--seeds", "7"])
    )

    assert (whole["seeds"], quick["seeds"], own["seeds"]) == (5, 2, 7)
    assert quick["epochs"] < whole["epochs"] == own["epochs"]


@pytest.mark.parametrize("option", ["--seeds", "--epochs"])
def test_none_of_something_is_refused(option):
    with pytest.raises(AnalysisError, match=f"{option}: must be 1 or more, got 0"):
        make(options(option, "0"))


def test_nothing_to_redraw_is_an_error(tmp_path, capsys):
    assert main(["experiment", "learning", "--redraw", "--out", str(tmp_path)]) != 0
    assert "no results to read" in capsys.readouterr().err
