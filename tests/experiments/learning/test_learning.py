"""The learning experiment: equal batches, repeatable trainings, honest conclusions."""

import itertools
import json
from dataclasses import asdict, replace

import pytest

import penstock as ps
from penstock.experiments.experiment import run
from penstock.experiments.findings import Judgement
from penstock.experiments.journal import Journal
from penstock.experiments.learning import findings
from penstock.experiments.learning.findings import CURVES, VARIANTS, compare, first_difference

pytest.importorskip("vl_convert")
torch = pytest.importorskip("torch")

from penstock.experiments.learning import batches, study, training  # noqa: E402

SMALL = study.Settings(
    train_images=40, test_images=20, side_px=16, batch_size=8, epochs=1, curve_epochs=2, seeds=2
)


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes") / "set"
    ps.make_shape_set(folder, train=40, test=20, progress=False)
    return batches.Lesson(folder, side_px=24, batch_size=8, seed=3)


def copied(epochs, count):
    return [
        (images.clone(), labels.clone())
        for epoch in range(count)
        for images, labels in epochs(epoch)
    ]


def test_torchvision_makes_the_same_of_our_draws(torchvision, lesson):
    """Two epochs, so that order and draws are seen to follow the epoch."""
    theirs = copied(batches.torchvision_epochs_drawn_here(lesson), 2)
    ours = copied(batches.epochs_of(batches.penstock_loader(lesson)), 2)

    assert len(theirs) == len(ours) == 10
    for (images, labels), (expected, expected_labels) in zip(ours, theirs, strict=True):
        assert torch.equal(images, expected)
        assert torch.equal(labels, expected_labels)


def test_torchvision_draws_for_itself(torchvision, lesson):
    torch.manual_seed(0)
    theirs = copied(batches.torchvision_epochs(lesson), 2)

    assert len(theirs) == 10
    assert {tuple(images.shape) for images, _ in theirs} == {(8, 3, 24, 24)}
    assert not torch.equal(theirs[0][0], theirs[5][0])


def test_a_training_can_be_repeated_to_the_bit(lesson):
    tests = batches.test_batches(lesson)
    loader = batches.penstock_loader(lesson)
    first, again = (
        training.train(2, batches.epochs_of(loader), 5, tests, seed=1) for _ in range(2)
    )
    other = training.train(2, batches.epochs_of(loader), 5, tests, seed=2)

    assert first == again
    assert len(first.losses) == 10
    assert first.weights != other.weights


def test_settings_of_torch_are_given_back(lesson):
    threads = torch.get_num_threads()
    training.train(1, batches.epochs_of(batches.penstock_loader(lesson)), 5, _tests(lesson), 0)

    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def _tests(lesson):
    return batches.test_batches(lesson)


def test_the_whole_experiment(torchvision, tmp_path, monkeypatch):
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    found = run(study.make_experiment(SMALL), tmp_path / "out")

    same, control, *others = found.claims
    assert same.judgement is Judgement.HOLDS, same.because
    assert "all 10 losses are equal" in same.because
    assert control.judgement in {Judgement.HOLDS, Judgement.FAILS}
    assert {claim.judgement for claim in others} == {Judgement.UNTESTED}
    assert "2 seeds are too few to tell" in others[0].because
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"learning.md", "learning-losses.svg", "learning-accuracy.svg", "results.json"}
    kept = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert len(kept["measurements"]) == len(CURVES) + 2 * len(VARIANTS)
    curves = [kept["measurements"][f"curve/{name}"] for name in ("torchvision", "folder", "packed")]
    assert all(curve["losses"] == curves[0]["losses"] for curve in curves)

    again = study.make_experiment(SMALL)
    monkeypatch.setattr(study, "train", None)  # nothing is left to be trained
    assert run(again, tmp_path / "out").claims == found.claims


def test_without_torchvision_its_trainings_are_missing(tmp_path, monkeypatch):
    def refuse(_lesson):
        raise ImportError("no torchvision here")

    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(study, "torchvision_epochs", refuse)
    monkeypatch.setitem(study._CURVES, "torchvision", lambda lesson: study._theirs(lesson, refuse))
    monkeypatch.setitem(
        study._VARIANTS, "torchvision", lambda lesson: study._theirs(lesson, refuse)
    )
    found = run(study.make_experiment(replace(SMALL, seeds=1)), tmp_path / "out")

    assert {claim.judgement for claim in found.claims} == {Judgement.UNTESTED}
    assert any("no torchvision here" in note for note in found.notes)
    assert [table.title for table in found.tables] == [
        "Accuracy on the test images in per cent, 1 seeds"
    ]


def trained(accuracy, losses=(1.0, 0.5), weights="a" * 64):
    return {"accuracy": accuracy, "losses": list(losses), "weights": weights, "rules": []}


def journal_of(accuracies, **curves):
    """A journal in which each variant has these accuracies."""
    seeds = len(next(iter(accuracies.values()), (0,)))
    settings = asdict(study.Settings(train_images=32, batch_size=32, seeds=seeds))
    journal = Journal("learning", settings, {"CPU": "this"})
    for name, values in accuracies.items():
        for seed, value in enumerate(values):
            journal.measurements[f"seed/{seed}/{name}"] = trained(value)
    journal.measurements |= {f"curve/{name}": curve for name, curve in curves.items()}
    return journal


def test_conclusions_follow_the_figures():
    near = [0.70, 0.72, 0.71, 0.69, 0.73]
    far = [0.50, 0.52, 0.51, 0.49, 0.53]
    accuracies = dict.fromkeys(VARIANTS, near) | {"none": far, "relaxed": far}
    *_, exact, fast, relaxed, helps = findings.draw(journal_of(accuracies)).claims

    assert exact.judgement is Judgement.HOLDS
    assert "71.0 % against 71.0 % with 5 seeds: +0.0 points" in exact.because
    assert fast.judgement is Judgement.HOLDS
    assert relaxed.judgement is Judgement.FAILS
    assert "-20.0 points, standard error 1.0, p = 0.01" in relaxed.because
    assert helps.judgement is Judgement.HOLDS

    accuracies["none"] = near
    assert findings.draw(journal_of(accuracies)).claims[-1].judgement is Judgement.FAILS


def test_a_single_differing_bit_is_a_difference():
    curves = {name: trained(0.5) for name in CURVES}
    curves["fast"] = trained(0.5, losses=(1.0, 0.25))
    same, control, *_ = findings.draw(journal_of({}, **curves)).claims
    assert (same.judgement, control.judgement) == (Judgement.HOLDS, Judgement.HOLDS)
    assert control.because == "they differ from batch 2 on"

    curves["packed"] = trained(0.5, losses=(1.0, 0.5 + 2**-25))
    same, *_ = findings.draw(journal_of({}, **curves)).claims
    assert same.judgement is Judgement.FAILS
    assert "the first 1 of 2 losses are equal" in same.because

    curves["packed"] = trained(0.5, weights="b" * 64)
    same, *_ = findings.draw(journal_of({}, **curves)).claims
    assert same.judgement is Judgement.FAILS


def test_an_empty_journal_can_be_drawn():
    found = findings.draw(journal_of({}))
    assert {claim.judgement for claim in found.claims} == {Judgement.UNTESTED}
    assert not found.tables
    assert not found.pictures


def test_an_interrupted_run_is_drawn_from_whole_seeds():
    """So that each way is judged by the same seeds."""
    journal = journal_of({name: [0.7, 0.8, 0.75, 0.7, 0.6] for name in VARIANTS})
    del journal.measurements["seed/4/none"]
    found = findings.draw(journal)

    assert "4 seeds" in found.tables[0].title
    assert "with 4 seeds" in found.claims[-1].because


def test_first_difference():
    assert first_difference([1, 2, 3], [1, 2, 3]) is None
    assert first_difference([1, 2, 3], [1, 5, 3]) == 2
    assert first_difference([1, 2, 3], [1, 2]) == 3


def test_the_test_of_seeds_counts_all_ways_to_deal_them():
    assert compare([1, 2, 3], [1, 2, 3]).p == 1
    apart = compare([0.9, 0.8, 0.85, 0.95, 0.7], [0.1, 0.2, 0.3, 0.15, 0.25])
    assert apart.p == 2 / 252
    assert apart.points == pytest.approx(64)
    values = [0.1, 0.5, 0.35, 0.2, 0.6, 0.4]
    ps_of_all = [
        compare(chosen, [value for value in values if value not in chosen]).p
        for chosen in itertools.combinations(values, 3)
    ]
    assert min(ps_of_all) == 2 / 20
    assert max(ps_of_all) == 1
