from dataclasses import replace

import pytest

from benchmarks.answer import Answer
from benchmarks.memory import Memory
from benchmarks.picture import draw_layers
from benchmarks.runner import Measured, Outcome
from benchmarks.summary import Spread, find, ratio_in_each_round, share_lost
from benchmarks.table import aligned, cost_row, layer_row, pixel_row, report, speed_row


def measured(peer, cores, rates, layers=0):
    return Measured(
        peer=peer,
        cores=cores,
        label=peer.title(),
        versions={"thing": "1.0"},
        idle=Memory(100_000_000, 90_000_000, 40_000_000),
        peak=Memory(300_000_000, 190_000_000, 120_000_000),
        promised_bytes=50_000_000,
        first_batch_s=0.25,
        images_per_s=rates,
        layers=layers,
    )


def answer(measured, left_out=None, **changes):
    return Answer(
        name="classify_224",
        title="Training",
        question="How fast",
        setting="3 rounds",
        different_photos=256,
        machine="a machine",
        outcome=Outcome(list(measured), left_out or {}),
        **changes,
    )


REFERENCE = measured("torchvision_pillow", 1, [100.0, 200.0, 150.0])
FAST = measured("penstock_folder", 1, [500.0, 800.0, 900.0])
FAST_ON_TWO = measured("penstock_folder", 2, [1000.0, 1600.0, 1620.0])
ALL = [REFERENCE, FAST, FAST_ON_TWO]
REFERENCE_WITH_TWO = measured("torchvision_pillow", 1, [50.0, 100.0, 100.0], layers=2)
FAST_WITH_TWO = measured("penstock_folder", 1, [400.0, 720.0, 810.0], layers=2)
LAYERED = [REFERENCE, REFERENCE_WITH_TWO, FAST, FAST_WITH_TWO]


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
    assert speed_row(FAST_ON_TWO, ALL)[3:] == ("-", "2.00")


def test_cost_row_takes_libraries_and_promised_batches_off_its_own_memory():
    assert cost_row(FAST)[2:] == ("300", "190", "80", "50", "30", "0.25")


def test_unknown_memory_is_shown_as_unknown():
    unknown = measured("opencv", 1, [1.0])
    unknown.peak = Memory()

    assert cost_row(unknown)[2:] == ("-", "-", "-", "50", "-", "0.25")


def test_the_ratio_to_the_rival_with_files_of_its_own_is_said():
    ours, theirs = (
        measured(peer, 1, rates)
        for peer, rates in (("penstock_packed", [300.0, 600.0]), ("ffcv_raw_500", [100.0, 150.0]))
    )

    text = report(answer([ours, theirs]))

    assert "- Penstock_Packed, over Ffcv_Raw_500, on 1 core(s): 3.50 (3.00-4.00)" in text


def test_a_table_that_was_made_elsewhere_is_shown_as_it_is():
    text = report(answer([], rows=[["a", "b"], ["c", "d"]]))

    assert text.endswith("| c |  d |\n") or text.splitlines()[-1].startswith("| c ")


def test_aligned_lines_have_one_width():
    lines = aligned([("a", "b"), ("long", "1"), ("x", "1,000")])

    assert lines[0] == "| a    |     b |"
    assert len({len(line) for line in lines}) == 1


def test_report_names_question_versions_and_setting():
    text = report(answer(ALL))

    assert text.startswith("How fast.")
    assert "thing 1.0" in text
    assert "3 rounds" in text
    assert "different photos: 256" in text


def test_pixels_stand_beside_the_speed():
    exact = replace(FAST, pixel_error=(0, 0.0), bytes_per_image=110_000.0)
    near = replace(FAST, pixel_error=(96, 1.876), bytes_per_image=1_234_567.0)

    assert pixel_row(exact) == ("110.0", "0", "0")
    assert pixel_row(near) == ("1,234.6", "96", "1.88")
    assert pixel_row(FAST) == ("-", "-", "-")


def test_report_says_what_was_not_dropped_from_memory_or_compared():
    odd = replace(FAST, left_in_memory=0.4, pixel_note="it has no centre crop")

    text = report(answer([REFERENCE, odd]))

    assert "up to 40% of its files could not be dropped" in text
    assert "- no pixels to compare: it has no centre crop" in text


def test_report_of_other_works_names_them():
    text = report(answer([replace(FAST, work="write"), replace(FAST, work="unpack")]))

    assert [line.split("|")[2].strip() for line in text.splitlines()[-2:]] == ["write", "unpack"]


def test_report_of_larger_and_larger_data_sets():
    row = {"samples": 10**7, "open_s": 0.01, "first_batch_s": 0.5, "own_mb": 60.0}

    row |= {"warm_first_batch_s": 0.25, "mapped_mb": 90.0, "resume_s": 0.1}
    text = report(answer([], scale=[row]))

    assert "10,000,000" in text
    assert "0.25" in text


def test_share_lost_is_taken_round_by_round():
    lost = share_lost(FAST_WITH_TWO, FAST)

    assert lost.median == pytest.approx(0.1)
    assert (lost.least, lost.largest) == (pytest.approx(0.1), pytest.approx(0.2))


def test_layer_row_compares_with_the_reference_of_as_many_layers():
    assert layer_row(FAST_WITH_TWO, LAYERED) == (
        "Penstock_Folder",
        "1",
        "2",
        "720 (400-810)",
        "8.00 (7.20-8.10)",
        "10.0 (10.0-20.0)",
    )
    assert layer_row(FAST, LAYERED)[5] == "-"


def test_report_of_layers_has_a_row_for_each_and_names_who_is_missing():
    text = report(answer(LAYERED, {"dali": "dali: No module named 'nvidia'."}))

    assert text.count("| Penstock_Folder ") == 2
    assert "- left out: dali: No module named 'nvidia'." in text


def test_picture_has_a_line_for_each_peer(tmp_path):
    pytest.importorskip("matplotlib")

    draw_layers(tmp_path / "layers.svg", LAYERED)

    picture = (tmp_path / "layers.svg").read_text()
    assert "<!-- Torchvision_Pillow -->" in picture
    assert "<!-- Penstock_Folder -->" in picture
