from dataclasses import replace

import pytest

from analysis_samples import measurements
from penstock.analysis.advice import ACCELERATE, ORDER, PACK, advise
from penstock.analysis.rate_model import CoreModel
from penstock.analysis.user_code import read_user_code
from penstock.analysis.verdict import judge
from penstock.analysis.what_if import ENOUGH, Change, Model, what_ifs
from penstock.costs.costs import Cost, Costs
from penstock.results.records import Verdict


def costs(read=0.0, decode=0.0, augment=0.0, collate=0.0, *, python=0.0, lock_share=0.0):
    """Costs in milliseconds."""
    parts = (
        Cost("read", "waiting for data", read / 1e3, "disk"),
        Cost("decode", "decode", decode / 1e3, "Pillow"),
        Cost("augment", "blur", augment / 1e3, "Pillow"),
        Cost("augment", "by_hand", python / 1e3, "Python"),
        Cost("collate", "collate", collate / 1e3, "torch"),
    )
    return Costs(parts, lock_share)


STALLED = measurements(1000, 400, 390, cores=4, costs=costs(decode=8, augment=1, collate=1))


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, Verdict.DECODE),
        ({"end_to_end": 950.0}, Verdict.ACCELERATOR),
        ({"costs": costs(decode=1, augment=8)}, Verdict.AUGMENT),
        ({"costs": costs(decode=1, collate=8)}, Verdict.COLLATE),
        ({"costs": costs(read=9, decode=1)}, Verdict.READ),
        ({"workers": 1}, Verdict.WORKERS),
        ({"workers": 0}, Verdict.WORKERS),
        ({"workers": 32, "other_workers": 4, "other_gain": 2.0}, Verdict.TOO_MANY_WORKERS),
        ({"workers": 32, "other_workers": 4, "other_gain": 1.02}, Verdict.DECODE),
        (
            {"workers": 32, "other_workers": 4, "other_gain": 2.0, "other_spread": 2.5},
            Verdict.DECODE,
        ),
        ({"workers": 1, "other_workers": 4, "other_gain": 3.5}, Verdict.WORKERS),
        ({"workers": 1, "other_workers": 4, "other_gain": 1.02}, Verdict.DECODE),
        (
            {"workers": 1, "other_workers": 4, "other_gain": 0.9, "other_spread": 2.0},
            Verdict.WORKERS,
        ),
        ({"batches": 2, "end_to_end": 950.0}, Verdict.NONE),
        ({"start_up_s": 0.9, "epoch_s": 1.0}, Verdict.START_UP),
        ({"start_up_s": 0.1, "epoch_s": 1.0}, Verdict.DECODE),
        ({"copy_s": 9e-4}, Verdict.TRANSFER),
        ({"pipeline": 4000.0, "end_to_end": 800.0, "computes_here": True}, Verdict.ACCELERATOR),
        ({"pipeline": 1500.0, "end_to_end": 800.0, "computes_here": True}, Verdict.DECODE),
        ({"batches": 2}, Verdict.NONE),
        ({"costs": None}, Verdict.NONE),
    ],
)
def test_verdict_follows_the_facts(change, verdict):
    assert judge(replace(STALLED, **change)).verdict is verdict


def test_python_matters_to_threads_only():
    held = costs(decode=1, python=9, lock_share=1.0)

    threads = judge(replace(STALLED, costs=held, worker_kind="threads"))
    assert threads.verdict is Verdict.INTERPRETER
    assert "by_hand" in threads.sentence
    assert judge(replace(STALLED, costs=held)).verdict is Verdict.AUGMENT


def test_sentence_names_the_slow_op_and_the_stall():
    finding = judge(replace(STALLED, costs=costs(decode=1, augment=8)))

    assert finding.sentence == (
        "The transforms are the limit, most of all blur: 89% of an image's 9,000 µs of work; the "
        "accelerator waits 61% of its time."
    )


def test_evidence_gives_all_three_rates():
    text = " ".join(judge(STALLED).evidence)

    assert all(rate in text for rate in ("1,000", "400", "390"))


MODEL = Model(CoreModel(0.0, 1 / 100), step_cpu_s=0.0, overlap=8.0)


def test_what_ifs_tell_how_many_cores_feed_the_accelerator():
    changes = {change.change: change for change in what_ifs(STALLED, MODEL)}

    feeding = next(change for name, change in changes.items() if name.endswith(ENOUGH))
    assert 0.95 * 1000 <= feeding.rate <= 1000
    assert changes["8 cores"].gain == pytest.approx(2, rel=0.05)


def test_what_ifs_tell_if_no_number_of_cores_is_enough():
    serial = Model(CoreModel(serial_s=1 / 500, parallel_s=1 / 500), step_cpu_s=0.0, overlap=8.0)
    last = what_ifs(STALLED, serial)[-1]

    assert last.change == "32 cores (would not be enough to keep the accelerator busy)"
    assert last.rate < 500


def test_more_workers_for_more_cores_are_thought_of():
    """One worker uses one core, however many there are."""
    one_worker = CoreModel(serial_s=1 / 100, parallel_s=0.0)
    model = replace(MODEL, cores=one_worker, with_workers=CoreModel(0.0, 1 / 100))
    changes = what_ifs(STALLED, model)

    assert changes[-1].change.endswith(f"cores, each with a worker {ENOUGH}")
    titles = [one.title for one in advise(Verdict.WORKERS, STALLED, model, changes)]
    assert any(title.startswith("Give it") for title in titles)


def test_advice_is_ranked_by_gain():
    forms = [Change(PACK, 5000.0), Change(ACCELERATE, 600.0)]
    advice = advise(Verdict.DECODE, STALLED, MODEL, what_ifs(STALLED, MODEL, forms))

    gains = [one.gain for one in advice]
    assert gains == sorted(gains, reverse=True)
    assert any("pack" in one.line for one in advice)
    assert any("accelerate" in one.line for one in advice)


@pytest.mark.parametrize(
    ("verdict", "change", "line"),
    [
        (Verdict.WORKERS, {"workers": 1}, "num_workers=4"),
        (Verdict.WORKERS, {"workers": 1, "worker_kind": "threads"}, "threads=4"),
        (
            Verdict.TOO_MANY_WORKERS,
            {"workers": 32, "other_workers": 4, "other_pipeline": 800.0},
            "num_workers=4",
        ),
        (Verdict.START_UP, {"start_up_s": 0.9, "epoch_s": 1.0}, "persistent_workers=True"),
        (Verdict.READ, {}, "num_workers=8"),
    ],
)
def test_advice_has_the_line_to_change(verdict, change, line):
    advice = advise(verdict, replace(STALLED, **change), MODEL, ())

    assert line in [one.line for one in advice]


def test_advice_names_the_place_to_change(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    script.write_text("loader = DataLoader(\n  data(Compose([a, b])),\n  num_workers=1)\n")
    facts = replace(STALLED, workers=1)
    code = read_user_code(str(script), "loader")
    order = Change(ORDER, 2 * facts.pipeline, line="Compose([\n    b,\n    a,\n])")
    changes = what_ifs(facts, MODEL, (order,))
    lines = [one.line for one in advise(Verdict.WORKERS, facts, MODEL, changes, code)]

    assert "num_workers=4  # train.py:3" in lines
    assert "Compose([\n    b,\n    a,\n])  # train.py:2" in lines


def test_a_busy_accelerator_needs_no_change():
    fed = replace(STALLED, pipeline=4000.0, end_to_end=1000.0)

    assert [one.line for one in advise(Verdict.ACCELERATOR, fed, MODEL, ())] == [""]


def test_a_pipeline_with_plenty_to_spare_is_not_blamed():
    """It feeds two accelerators alone, so what held the run up lies elsewhere."""
    found = judge(replace(STALLED, pipeline=2.0 * STALLED.synthetic))

    assert found.verdict == Verdict.NONE
    assert "No verdict on the cause" in found.sentence
    assert "2.0 times what the step takes" in found.sentence
