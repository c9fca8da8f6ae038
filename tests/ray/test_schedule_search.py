"""`penstock.ray.search_schedule`: the moves of a population, its folder, and whole searches."""

import json
import math
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts_environment import environment_for

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("pyarrow", reason="Ray Tune needs PyArrow")

import searched_training
from penstock import transforms as T
from penstock.errors import SearchError
from penstock.ray import search_schedule
from penstock.ray.explore import History, as_content, checked, explore, first_ops
from penstock.ray.search_folder import Member, Population, SavedEpoch, SearchFolder
from penstock.ray.trial import Trial
from searched_training import SEARCH, search_plainly, train

COUNTS = [0.2, 0.3, 0.5]
seeds = st.integers(0, 2**32)


def ops_after(moves, seed):
    ops, dice = first_ops(), Random(seed)
    for _ in range(moves):
        ops = explore(ops, dice)
    return ops


# The space and the moves


def test_a_search_begins_with_every_op_twice_and_none_of_them_done():
    names = [name for name, _, _ in first_ops()]
    assert len(names) == 30
    assert len(set(names)) == 15
    assert {(probability, level) for _, probability, level in first_ops()} == {(0.0, 0)}


@given(moves=st.integers(0, 30), seed=seeds)
def test_moves_stay_in_the_published_space(moves, seed):
    ops = ops_after(moves, seed)
    assert [name for name, _, _ in ops] == [name for name, _, _ in first_ops()]
    assert {probability for _, probability, _ in ops} <= {step / 10 for step in range(11)}
    assert {level for _, _, level in ops} <= set(range(10))
    assert ops == ops_after(moves, seed)


def test_a_move_goes_three_steps_at_most_but_for_one_number_in_five():
    ops = tuple(("Rotate", 0.5, 5) for _ in range(10_000))
    moved = explore(ops, Random(0))
    far_levels = sum(abs(level - 5) > 3 for _, _, level in moved) / len(moved)
    far_odds = sum(abs(round(p * 10) - 5) > 3 for _, p, _ in moved) / len(moved)
    assert far_levels == pytest.approx(0.2 * 3 / 10, abs=0.01)  # 0, 1 and 9
    assert far_odds == pytest.approx(0.2 * 4 / 11, abs=0.01)  # 0, 1, 9 and 10
    stayed = sum(level == 5 for _, _, level in moved) / len(moved)
    assert stayed == pytest.approx(0.8 / 4 + 0.2 / 10, abs=0.01)


histories = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3), seeds), max_size=5)


@given(parts=histories)
def test_a_schedule_written_is_the_schedule_read(parts, tmp_path_factory):
    """The ops, the epochs at which they change and the counts; also stretched to twice the time."""
    history, epoch, expected = History().then(0, first_ops()), 0, {0: first_ops()}
    for length, moves, seed in parts:
        epoch += length
        history = history.then(epoch, ops_after(moves, seed))
        expected[epoch] = ops_after(moves, seed)
    assert History.from_listed(json.loads(json.dumps(history.as_listed()))) == history

    content = as_content(history, epoch + 2, COUNTS)
    path = tmp_path_factory.mktemp("schedule") / "schedule.json"
    path.write_text(json.dumps(content))
    alone, stretched = T.PopulationBasedAugment(path), T.PopulationBasedAugment(path, 2 * epoch + 4)
    assert checked("here", content) == alone._schedule
    assert alone._schedule.counts == tuple(COUNTS)
    ops = first_ops()
    for now in range(epoch + 2):
        ops = expected.get(now, ops)
        read_at = (alone.stage_at(now), *map(stretched.stage_at, (2 * now, 2 * now + 1)))
        for read in read_at:
            assert tuple((op.name, op.probability, op.level) for op in read.ops) == ops


def test_a_history_has_no_stage_that_changes_nothing():
    once = History().then(0, first_ops())
    assert once.then(3, first_ops()) == once
    assert len(once.then(3, ops_after(1, 0)).stages) == 2


# A training of the population, without Ray


def make_trial(root, told=None, source=None, after=0, number=1, run="run-0001", moves=1):
    (root / run).mkdir(exist_ok=True)
    return Trial(
        SearchFolder(root),
        run,
        number,
        Member(ops_after(moves, 7), source),
        after,
        epochs=4,
        seed=5,
        counts=COUNTS,
        tell=[].append if told is None else told.append,
    )


def write(folder):
    (folder / "weights").write_text("7")


def test_a_trial_tells_its_score_and_keeps_the_newest_epoch(tmp_path):
    told = []
    trial = make_trial(tmp_path, told)
    assert (trial.start, trial.epochs, trial.seed, trial.folder) == (0, 4, 5, None)
    ops = trial.augment(fill=3).stage_at(0).ops
    assert tuple((op.name, op.probability, op.level) for op in ops) == ops_after(1, 7)
    trial.report(0.5, write)
    trial.report(0.25, write)
    assert [(saved.epoch, saved.score) for saved in told] == [(1, 0.5), (2, 0.25)]
    assert [path.name for path in tmp_path.glob("run-*/member-001/epoch-*")] == ["epoch-0002"]
    assert SavedEpoch.read(told[1].path) == told[1]
    assert told[1].history == History().then(0, ops_after(1, 7))


def test_an_interrupted_trial_first_tells_what_it_saved(tmp_path):
    before, told = make_trial(tmp_path), []
    before.augment()
    before.report(0.5, write)

    def train(trial):
        assert (trial.start, [saved.epoch for saved in told]) == (1, [1])
        assert (trial.folder / "weights").read_text() == "7"
        trial.augment()
        for _ in range(trial.start, trial.epochs):
            trial.report(0.75, write)

    make_trial(tmp_path, told, run="run-0002").run(train)
    assert [saved.epoch for saved in told] == [1, 2, 3, 4]
    names = [SearchFolder(tmp_path).name_of(path) for path in tmp_path.glob("*/*/epoch-*")]
    assert names == ["run-0002/member-001/epoch-0004"]


def test_a_trial_that_takes_over_has_the_history_of_the_other(tmp_path):
    other = make_trial(tmp_path, number=0)
    other.augment()
    other.report(0.5, write)
    told = []
    trial = make_trial(tmp_path, told, "run-0001/member-000/epoch-0001", after=1, moves=2)
    assert (trial.start, (trial.folder / "weights").read_text()) == (1, "7")
    trial.augment()
    trial.report(0.5, write)
    assert told[0].history.stages == ((0, ops_after(1, 7)), (1, ops_after(2, 7)))


def refusals():
    def augmented(trial):
        trial.augment()
        return trial

    return {
        "cannot be compared": lambda trial: augmented(trial).report(math.nan, write),
        "augment": lambda trial: trial.report(0.5, write),
        "wrote nothing": lambda trial: augmented(trial).report(0.5, lambda _: None),
        "ended after 0 of 4 epochs": lambda trial: trial.run(lambda _: None),
    }


@pytest.mark.parametrize("told", refusals())
def test_a_training_that_would_search_nothing_is_refused(told, tmp_path):
    with pytest.raises(SearchError, match=told):
        refusals()[told](make_trial(tmp_path))
    assert not list(tmp_path.glob("run-*/*/*epoch*"))


def test_a_training_that_does_not_go_on_from_what_was_saved_is_refused(tmp_path):
    first = make_trial(tmp_path)
    first.augment()
    first.report(0.5, write)
    second = make_trial(tmp_path)
    second.augment()
    with pytest.raises(SearchError, match=r"trial\.folder"):
        second.report(0.5, write)


# Arguments, and what lies in the folder already


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"population": 3}, "population must be a whole number from 4 on, got 3"),
        ({"epochs": 2.5}, "epochs must be"),
        ({"every": 6}, "every=6, trainings of 6 epochs never"),
        ({"seed": -1}, "seed must be"),
        ({"counts": [0.5, 0.6]}, "counts must be probabilities"),
        ({"counts": [1.0, 0.0]}, "no op is ever done"),
        ({"storage": "s3://bucket/search"}, "storage must be a folder"),
    ],
)
def test_arguments_that_cannot_work_are_refused_before_anything_is_written(changed, told, tmp_path):
    arguments = {**SEARCH, "storage": tmp_path / "search", **changed}
    with pytest.raises(SearchError, match=told):
        search_schedule(print, tmp_path / "schedule.json", **arguments)
    assert not list(tmp_path.iterdir())


def test_a_mere_client_of_a_cluster_is_refused(tmp_path, monkeypatch):
    """Ray Tune would run on the cluster, and a population that moves would be recorded nowhere."""
    monkeypatch.setattr("penstock.ray.search.client.is_connected", lambda: True)
    with pytest.raises(SearchError, match="ray job submit"):
        search_schedule(print, tmp_path / "s.json", storage=tmp_path / "search", **SEARCH)
    assert not list(tmp_path.iterdir())


def test_nothing_that_exists_is_overwritten(tmp_path):
    out, storage = tmp_path / "schedule.json", tmp_path / "search"
    out.write_text("mine")
    with pytest.raises(SearchError, match=r"schedule\.json exists already"):
        search_schedule(print, out, storage=storage, **SEARCH)
    with pytest.raises(SearchError, match="there is no folder"):
        search_schedule(print, tmp_path / "no" / "s.json", storage=storage, **SEARCH)
    storage.mkdir()
    (storage / "mine.txt").write_text("mine")
    with pytest.raises(SearchError, match="not an empty folder"):
        search_schedule(print, tmp_path / "other.json", storage=storage, **SEARCH)
    with pytest.raises(SearchError, match="no search to go on with"):
        search_schedule(print, tmp_path / "other.json", storage=storage, resume=True, **SEARCH)
    assert out.read_text() == (storage / "mine.txt").read_text() == "mine"


def test_two_processes_do_not_search_in_one_folder(tmp_path):
    folder = SearchFolder(tmp_path / "search")
    again = pytest.raises(SearchError, match="another process searches")
    with folder.locked(), again, SearchFolder(tmp_path / "search").locked():
        pass


@given(count=st.integers(1, 6), epoch=st.integers(0, 9), seed=seeds)
def test_a_population_written_is_the_population_read(count, epoch, seed):
    members = tuple(Member(ops_after(1, seed + n), f"run-0001/member-{n}") for n in range(count))
    population = Population(epoch, (*members, Member(first_ops())))
    listed = json.loads(json.dumps(population.as_listed()))
    assert Population.from_listed(listed) == population


# Whole searches


@pytest.fixture
def troubles(tmp_path):
    """What is to go wrong, in a folder of empty files."""
    folder = tmp_path / "troubles"
    folder.mkdir()
    return folder


def search(tmp_path, troubles, **changed):
    arguments = {**SEARCH, "storage": tmp_path / "search", "cpus": 2, **changed}
    return search_schedule(
        partial(train, troubles=troubles), tmp_path / "schedule.json", **arguments
    )


def test_a_search_goes_on_after_anything_and_ends_as_if_nothing_had_happened(
    tmp_path, troubles, cluster, monkeypatch
):
    """Its driver is killed in epoch 1, a training fails in epoch 3, a worker dies in epoch 4."""
    (troubles / "kill-1").touch()
    script = Path(searched_training.__file__)
    address = cluster.get_runtime_context().gcs_address
    killed = subprocess.run(
        [sys.executable, script, tmp_path / "search", tmp_path / "schedule.json", troubles],
        env={**environment_for(script), "RAY_ADDRESS": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    with pytest.raises(SearchError, match="holds a search already"):
        search(tmp_path, troubles)
    with pytest.raises(SearchError, match="begun with every=2, not 3"):
        search(tmp_path, troubles, every=3, resume=True)

    (troubles / "raise-3").touch()
    with pytest.raises(SearchError, match="failed, the first with OSError: the disk is full"):
        search(tmp_path, troubles, resume=True)
    assert not (tmp_path / "schedule.json").exists()

    (troubles / "die-4").touch()
    monkeypatch.chdir(tmp_path)
    found = search(tmp_path, Path(troubles.name), resume=True, cpus=1.5, progress=True)
    scores, content = search_plainly(**SEARCH)
    assert not list(troubles.iterdir())
    assert found.scores == tuple(scores)
    assert (found.score, found.stages) == (scores[0], len(content["stages"]))
    assert json.loads(found.path.read_text()) == json.loads(json.dumps(content))
    assert T.PopulationBasedAugment(found.path)._schedule == checked("plain", content)
    assert len(content["stages"]) > 1  # or it would not have searched

    found.path.unlink()
    assert search(tmp_path, troubles, resume=True) == found
    found.path.write_text("mine")
    with pytest.raises(SearchError, match="with something else in it"):
        search(tmp_path, troubles, resume=True)


def test_the_rest_of_penstock_ray_does_without_what_ray_tune_needs():
    told = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import penstock.ray\n"
        "assert penstock.ray.RayLoader\n"
        "from penstock.ray import search_schedule\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", told],
        env=environment_for(Path(__file__)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install 'ray[tune]'" in done.stderr.splitlines()[-1]
