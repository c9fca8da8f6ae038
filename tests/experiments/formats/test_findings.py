"""Claims, tables and figures follow from the measurements, whatever is missing."""

import pytest

from penstock.experiments.findings import Judgement
from penstock.experiments.formats.augmentations import AUGMENTATIONS
from penstock.experiments.formats.findings import draw
from penstock.experiments.formats.forms import DALI, FORMS, PENSTOCK, TORCH, contestants
from penstock.experiments.formats.savings import Results, judge
from penstock.experiments.formats.storage import STORAGES
from penstock.experiments.journal import Journal

DEVICES = ["emulated:400", "cpu"]
SETTINGS = {
    "data": "photos", "distinct": 5, "samples": 20, "batch_size": 4, "cores": 2,
    "seconds": 1.0, "devices": DEVICES, "model": "small", "quick": False,
}  # fmt: skip


def training_rate(library, form):
    if library == TORCH:
        return 105.0 if FORMS[form].is_record else 100.0
    if library == DALI:
        return 130.0 if form == "folder" else 150.0
    return 390.0 if form == "pen" else 300.0


def measured(rate=training_rate, devices=DEVICES):
    found = {}
    for form in FORMS:
        found[f"write/{form}"] = {"bytes": 20_000, "seconds": 0.5}
        found[f"one/{form}"] = {"read, shuffled": 9.0, "read, in order": 8.0, "decoded": 7.0}
    for library, form in contestants():
        found[f"storage/{library}/{form}"] = {
            f"{name}, {order}": 500.0 if FORMS[form].is_stream else 100.0
            for name in STORAGES
            for order in ("shuffled", "in order")
        }
        for number in range(2):
            who = f"{number}/{library}/{form}"
            found[f"read/{who}"] = {
                "cold": 50.0, "cold_first_batch_s": 1.0, "first_batch_s": 0.5,
                "shuffled": 200.0 + number, "in order": 210.0, "memory_bytes": 10_000_000,
            }  # fmt: skip
            found[f"augment/{who}"] = dict.fromkeys(AUGMENTATIONS, 44.0)
            for device in devices:
                found[f"train/{number}/{device}/{library}/{form}"] = {
                    "base": 100.0,
                    "rate": rate(library, form),
                }
    return found


def journal_of(measurements):
    return Journal("formats", SETTINGS, {"CPU": "this"}, measurements=measurements)


def judged(measurements):
    return judge(Results(measurements, SETTINGS))


def test_claims_are_judged_by_figures():
    formats, dali, both, more, codec = judged(measured())

    # 5 % from memory, 80 % behind a disk with seeks.
    assert formats.judgement is Judgement.DEPENDS
    assert "emulated, 400 images/s: 5% at best" in formats.because
    assert "behind a simulated disk with seeks, where training only waits for data: 80%" in (
        formats.because
    )
    assert dali.judgement is Judgement.HOLDS
    assert "23% at best (DALI, folder of JPEGs)" in dali.because
    assert both.judgement is Judgement.HOLDS
    assert more.judgement is Judgement.HOLDS
    assert "74% against 33%" in more.because
    assert codec.judgement is Judgement.HOLDS


def test_a_claim_that_does_not_hold():
    found = judged(measured(lambda *_: 100.0))
    assert [claim.judgement for claim in found[1:]] == [Judgement.FAILS] * 4


def test_a_claim_may_hold_on_one_device_only():
    measurements = measured()
    for key in measurements:
        if key.startswith("train/") and "/cpu/" in key:
            measurements[key] = {"base": 100.0, "rate": 100.0}
    assert judged(measurements)[3].judgement is Judgement.DEPENDS


def test_nothing_is_concluded_on_a_busy_machine():
    measurements = measured(devices=DEVICES[:1])
    for number, key in enumerate(key for key in measurements if key.startswith("train/")):
        measurements[key]["base"] = 60.0 + 40 * (number % 3)
    claims = judged(measurements)

    assert [claim.judgement for claim in claims] == [
        *[Judgement.UNTESTED] * 3,
        Judgement.HOLDS,  # 390 against 150 is more than 140 against 60
        Judgement.UNTESTED,
    ]
    assert "not judged, since the same training ran at 60 to 140 images/s" in claims[0].because
    assert "more, by far more than rates of the base differ" in claims[3].because


def test_what_is_missing_is_named():
    measurements = measured()
    for key in list(measurements):
        if f"/{DALI}/" in key:
            measurements[key] = {"failed": "DALI: not installed"}
    findings = draw(journal_of(measurements))

    assert findings.claims[1].judgement is Judgement.UNTESTED
    assert findings.claims[3].because == "DALI: not installed"
    assert "missing: DALI: not installed" in findings.notes


def test_every_table_and_figure_tells_the_distinct_photos():
    findings = draw(journal_of(measured()))

    assert [picture.key for picture in findings.pictures] == [
        *("bytes", "rates", "savings", "storage")
    ]
    told = [table.note for table in findings.tables]
    told += [picture.caption for picture in findings.pictures]
    assert len(told) == 16
    assert all("20 samples of 5 distinct photos" in text for text in told)
    savings = findings.tables[-1]
    assert savings.rows[0][0] == "torchvision, folder of JPEGs (what it is compared with)"
    assert savings.rows[-1] == (f"{PENSTOCK}, .pen with tiles (both)", "74%; 390", "74%; 390")
    assert findings.tables[2].rows[0][1] == "200 (200 to 201)"


def test_nothing_measured_yet_is_drawn_too():
    findings = draw(journal_of({}))
    assert {claim.judgement for claim in findings.claims} == {Judgement.UNTESTED}
    assert not findings.tables
    assert not findings.pictures


def test_figures_are_drawn():
    pytest.importorskip("vl_convert")
    from penstock.experiments.pages import completed
    from penstock.report.vega import draw_svg

    for picture in draw(journal_of(measured())).pictures:
        svg = draw_svg(completed(picture.spec))
        assert ".pen with tiles" in svg
