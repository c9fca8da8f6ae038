import pytest

from benchmarks.predictions import Check, summary, table

HARD = Check(2, 1, accelerator=500, pipeline=400, predicted=330, measured=300)
EASY = Check(1, 0, accelerator=100, pipeline=400, predicted=100, measured=100)


def test_error_is_a_share_of_what_was_measured():
    assert HARD.error == pytest.approx(0.1)
    assert HARD.as_prediction().error == pytest.approx(0.1)
    assert HARD.as_prediction().what == "2 cores, 1 layer, accelerator of 500"


def test_hard_settings_are_summed_up_apart():
    """An accelerator four times as slow as the pipeline sets the rate alone."""
    assert (HARD.is_close, EASY.is_close) == (True, False)
    assert summary([HARD, EASY]) == [
        "Error, all settings (2): 5.0% in the median, 10.0% at worst.",
        "Error, S and P within 2x (1): 10.0% in the median, 10.0% at worst.",
    ]
    assert len(summary([EASY])) == 1


def test_table_has_a_row_a_setting():
    assert "| 2 | 1 | 500 | 400 | 330 | 300 | 10.0% |" in table([HARD, EASY])
