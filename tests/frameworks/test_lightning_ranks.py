"""Lightning on two ranks: each sample on one of them, in training, validation and prediction."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch.distributed.run", reason="torch.distributed is not installed")
pytest.importorskip("lightning", reason="Lightning is not installed")

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
RUNS = ["module-True", "module-False", "torch-True", "loader-True", "loader-False"]
IMAGES = 17


@pytest.fixture(scope="module")
def ranks(make_folder, tmp_path_factory):
    """What the two ranks wrote down; 17 samples cannot be divided evenly."""
    target = tmp_path_factory.mktemp("ranks")
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    done = subprocess.run(
        [*run, HERE / "lightning_ranks.py", make_folder(images=IMAGES, seed=9), target],
        cwd=target,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parent)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((target / f"rank{rank}.json").read_text()) for rank in (0, 1)]


def samples_in(given, epoch):
    return [sample for when, samples, _ in given if when == epoch for sample in samples]


@pytest.mark.parametrize("name", RUNS)
def test_each_sample_is_on_one_rank(ranks, name):
    """Both have as many, so one sample comes twice, as torch's DistributedSampler has it."""
    for epoch in (0, 1):
        halves = [samples_in(rank[name]["whole"], epoch) for rank in ranks]
        assert [len(half) for half in halves] == [9, 9]
        counts = Counter(halves[0] + halves[1])
        assert set(counts) == set(range(IMAGES))
        assert sorted(counts.values())[-2:] == [1, 2]


@pytest.mark.parametrize("name", RUNS)
def test_a_checkpoint_goes_on_on_both(ranks, name):
    """It was saved in the middle of the second epoch, by rank 0 alone."""
    for rank in ranks:
        whole, after = rank[name]["whole"], rank[name]["after"]
        assert len(whole) == 10
        assert after == whole[7:]


@pytest.mark.parametrize("name", RUNS)
def test_another_epoch_has_another_order_and_other_draws(ranks, name):
    for rank in ranks:
        whole = rank[name]["whole"]
        assert samples_in(whole, 0) != samples_in(whole, 1)
        drawn = [
            {round(total, 3) for when, _, sums in whole if when == epoch for total in sums}
            for epoch in (0, 1)
        ]
        assert not drawn[0] & drawn[1]


@pytest.mark.parametrize("name", [run for run in RUNS if not run.startswith("torch")])
def test_validation_is_shared_too(ranks, name):
    halves = [samples_in(rank[name]["validated"], 0) for rank in ranks]
    assert set(halves[0] + halves[1]) == set(range(IMAGES))
    assert [len(half) for half in halves] == [9, 9]


def test_it_makes_no_difference_who_shares_a_data_module(ranks):
    for rank in ranks:
        assert rank["module-True"] == rank["module-False"]


def test_predictions_come_exactly_once(ranks):
    one, other = (rank["predicted"] for rank in ranks)
    assert one == list(range(0, IMAGES, 2))
    assert other == list(range(1, IMAGES, 2))
