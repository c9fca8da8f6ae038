"""Claims, tables and figures follow from what was measured; nothing is measured here."""

import math
from dataclasses import replace

import pytest

from penstock.experiments.experiment import FAILED
from penstock.experiments.findings import Judgement
from penstock.experiments.journal import Journal
from penstock.experiments.libraries.claims import (
    judge,
    judge_cores,
    judge_jitter,
    judge_libraries,
    judge_order,
    judge_planner,
)
from penstock.experiments.libraries.detector.training import (
    EMULATED_KEY,
    LINES_KEY,
    LOADERS,
    PLAIN,
    TRANSLATION_KEY,
    rate_key,
    real_key,
)
from penstock.experiments.libraries.ours import PLANS, STORAGES, title
from penstock.experiments.libraries.readings import STUDIED, Readings
from penstock.experiments.libraries.study import draw
from penstock.experiments.libraries.work import (
    CHAINS,
    CROP_FIRST,
    OPS,
    Photos,
    Settings,
    chain_key,
    ops_key,
    pixels_key,
)
from penstock.experiments.pages import completed
from penstock.report.vega import draw_svg

SMALL = Photos(640, 427, distinct=2, turn=1, images=2)
LARGE = Photos(3000, 5000, distinct=1, turn=1, images=1)
SETTINGS = Settings(sizes=(SMALL, LARGE), iterations=2, rounds=1, cores=(1, 2))
OURS = [title(storage, plan) for storage in STORAGES for plan in PLANS]


def ops_ms(**changed):
    """Two libraries that differ by a tenth; jitter takes longest unless something is changed."""
    took = dict.fromkeys(OPS, 1.0) | {"jitter": 2.0} | changed
    return {
        name: {op: [10.0, 10.0 + ms * (1 + 0.1 * number)] for op, ms in took.items()}
        for number, name in enumerate(STUDIED)
    }


def chain_ms(total, ours=1.0):
    libraries = {name: [1.0, *[total] * 5] for name in STUDIED}
    return libraries | {name: [ours] for name in OURS}


def measured(**changed):
    found = {}
    for photos in SETTINGS.sizes:
        found[pixels_key(photos)] = {"Pillow": {"load": [0.0, 0]}, "OpenCV": {"load": [0.25, 3]}}
        for number in range(SETTINGS.iterations):
            found[ops_key(photos, number)] = ops_ms()
            for chain in CHAINS:
                is_quick = chain.order == CROP_FIRST
                found[chain_key(photos, chain, number)] = chain_ms(2.0 if is_quick else 10.0)
    for cores in SETTINGS.cores:
        found[rate_key(cores, 0)] = dict.fromkeys(LOADERS, 100.0 * cores)
    run = {"loader": PLAIN, "cores": 1, "images_per_s": 90.0, "seconds": [1.0, 2.0], "busy": [0, 1]}
    found[EMULATED_KEY] = {"images_per_s": 1200, "runs": [run]}
    found |= {real_key(name): run | {"loader": name, "losses": [1.0]} for name in LOADERS}
    found[LINES_KEY] = [{"code": "image = Image.open(path)", "us": 75.0}, {"code": "x", "us": 25.0}]
    found[TRANSLATION_KEY] = {PLAIN: ["data  refused  ET.parse: is not known"]}
    return found | changed


def readings(**changed):
    return Readings(Journal("libraries", SETTINGS.to_dict(), {}, measurements=measured(**changed)))


def test_large_photos_may_have_fewer_iterations():
    few = replace(LARGE, most_iterations=1)

    assert list(SETTINGS.rounds_of(few)) == [0]
    assert list(SETTINGS.rounds_of(SMALL)) == [0, 1]


def test_settings_survive_json():
    assert Settings.from_dict(SETTINGS.to_dict()) == SETTINGS


def test_libraries_within_a_quarter():
    assert judge_libraries(readings()).judgement == Judgement.HOLDS


def test_one_operation_that_differs_makes_it_depend():
    far = ops_ms()
    far["NumPy"]["rotate"] = [10.0, 500.0]
    claim = judge_libraries(readings(**{ops_key(SMALL, n): far for n in range(2)}))

    assert claim.judgement == Judgement.DEPENDS
    assert "rotate at 640x427, where NumPy takes" in claim.because


def test_jitter_is_the_dearest():
    assert judge_jitter(readings()).judgement == Judgement.HOLDS


def test_jitter_depends_on_the_filter():
    changed = ops_ms(rotate=9.0)
    keys = [ops_key(photos, n) for photos in SETTINGS.sizes for n in range(2)]
    claim = judge_jitter(readings(**dict.fromkeys(keys, changed)))

    assert claim.judgement == Judgement.DEPENDS
    assert "bilinear rotation it is the dearest in 0 of 6" in claim.because
    assert "Pillow's default, in 6" in claim.because


def test_the_order_gains_four_times():
    claim = judge_order(readings())

    assert claim.judgement == Judgement.HOLDS
    assert "up to 5.00 times" in claim.because


def test_an_order_that_enlarges_is_slower():
    enlarging = next(c for c in CHAINS if c.order == CROP_FIRST and c.side_px == 1000)
    slow = {chain_key(SMALL, enlarging, n): chain_ms(30.0) for n in range(2)}
    claim = judge_order(readings(**slow))

    assert claim.judgement == Judgement.DEPENDS
    assert "slower in 3 of 12 cases (all of them enlarge what was cropped" in claim.because
    assert "640x427 to 1000" in claim.because


def test_the_planner_is_judged_against_what_was_written():
    keys = [chain_key(p, c, n) for p in SETTINGS.sizes for c in CHAINS for n in range(2)]
    gaining = chain_ms(10.0)
    for storage in STORAGES:
        gaining[title(storage, "as written")] = [8.0]
    slower = {name: list(values) for name, values in gaining.items()}
    slower[title("file", "exact")] = [40.0]
    holds = judge_planner(readings(**dict.fromkeys(keys, gaining)))
    depends = judge_planner(readings(**dict.fromkeys(keys, gaining) | {keys[-1]: slower}))

    assert judge_planner(readings()).judgement == Judgement.FAILS
    assert holds.judgement == Judgement.HOLDS
    assert "up to 8.00 times" in holds.because
    assert depends.judgement == Judgement.DEPENDS


def test_cores_are_told_but_not_claimed():
    claim = judge_cores(readings())

    assert claim.judgement == Judgement.UNTESTED
    assert "plain Dataset 12.0" in claim.because


def test_nothing_is_claimed_of_nothing():
    nothing = Readings(Journal("libraries", SETTINGS.to_dict(), {}))

    assert {claim.judgement for claim in judge(nothing)} == {Judgement.UNTESTED}
    assert draw(nothing.journal).pictures == ()
    assert any("3000x5000: not measured yet" in note for note in draw(nothing.journal).notes)


def test_all_figures_are_drawn():
    pytest.importorskip("vl_convert")
    findings = draw(readings().journal)

    keys = [picture.key for picture in findings.pictures]
    assert keys == [
        "libraries-utilisation",
        "libraries-cores",
        "libraries-operations",
        "libraries-chain3",
        "libraries-chain4",
        "libraries-planned",
    ]
    for picture in findings.pictures:
        assert "<svg" in draw_svg(completed(picture.spec))


def test_tables_say_how_many_photos_there_are():
    findings = draw(readings().journal)
    titles = [table.title for table in findings.tables]

    assert "Operations with loading, 2 distinct photos of 640x427" in titles
    assert "Whole chains, 1 distinct photo of 3000x5000" in titles
    lines = next(table for table in findings.tables if "by line" in table.title)
    assert lines.rows[0] == ("image = Image.open(path)", "75.0", "75%")
    assert any("2 of 640x427, 1 of 3000x5000" in line for line in findings.setting)


def test_what_is_missing_is_named():
    found = readings(**{LINES_KEY: {FAILED: "line_profiler is not installed"}})
    journal = found.journal
    journal.environment = {"OpenCV": "not measured: cv2 cannot be imported"}
    notes = draw(journal).notes

    assert "detector/lines: not measured: line_profiler is not installed" in notes
    assert "OpenCV: not measured: cv2 cannot be imported" in notes


def test_a_cell_is_a_median_of_iterations():
    far = {ops_key(SMALL, 1): ops_ms(flip=3.0)}
    _, both = readings(**far).ops(SMALL)["Pillow"]["flip"]

    assert math.isclose(both.median, 12.0)
    assert (both.least, both.largest) == (11.0, 13.0)
