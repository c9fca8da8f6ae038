import pytest

from benchmarks.memory import Memory
from benchmarks.runner import Measured
from benchmarks.summary import Spread, find, ratio_in_each_round
from benchmarks.table import aligned, cost_row, report, speed_row


def measured(peer, cores, rates):
    return Measured(
        peer=peer,
        cores=cores,
        label=peer.title(),
        versions={"thing": "1.0"},
        idle=Memory(100_000_000, 90_000_000),
        peak=Memory(300_000_000, 190_000_000),
        first_batch_s=0.25,
        images_per_s=rates,
    )


REFERENCE = measured("torchvision_pillow", 1, [100.0, 200.0, 150.0])
FAST = measured("penstock_folder", 1, [500.0, 800.0, 900.0])
FAST_ON_TWO = measured("penstock_folder", 2, [1000.0, 1600.0, 1620.0])
ALL = [REFERENCE, FAST, FAST_ON_TWO]


def test_spread_is_median_least_and_largest():
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)


def test_ratios_are_taken_round_by_round():
    """A slow minute of the machine falls on both sides, so it must not change the ratio."""
    assert ratio_in_each_round([100.0, 10.0], [50.0, 5.0]) == Spread(2.0, 2.0, 2.0)


def test_ratio_refuses_rounds_that_do_not_match():
    with pytest.raises(ValueError, match="zip"):
        ratio_in_each_round([1.0], [1.0, 2.0])


def test_find_tells_cores_apart():
    assert find(ALL, "penstock_folder", 2) is FAST_ON_TWO
    assert find(ALL, "torchvision_pillow", 2) is None


def test_speed_row_compares_with_the_reference_and_with_one_core():
    assert speed_row(FAST, ALL) == (
        "Penstock_Folder",
        "1",
        "800 (500-900)",
        "5.00 (4.00-6.00)",
        "-",
    )
    assert speed_row(FAST_ON_TWO, ALL)[3:] == ("-", "2.00 (1.80-2.00)")


def test_cost_row_takes_the_libraries_off_its_own_memory():
    assert cost_row(FAST)[2:] == ("300", "190", "100", "0.25")


def test_unknown_memory_is_shown_as_unknown():
    unknown = measured("opencv", 1, [1.0])
    unknown.peak = Memory()

    assert cost_row(unknown)[2:5] == ("-", "-", "-")


def test_aligned_lines_have_one_width():
    lines = aligned([("a", "b"), ("long", "1"), ("x", "1,000")])

    assert lines[0] == "| a    |     b |"
    assert len({len(line) for line in lines}) == 1


def test_report_names_question_versions_and_setting():
    text = report(ALL, "How fast", "3 rounds")

    assert text.startswith("How fast.")
    assert "thing 1.0" in text
    assert "3 rounds" in text
