"""Accelerate on two ranks: who gets which samples, with each of its ways to share them."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch.distributed.run", reason="torch.distributed is not installed")
pytest.importorskip("accelerate", reason="Accelerate is not installed")

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
IMAGES = 13
NATIVE = ["default-native", "seedable-native", "uneven-native", "split-native"]
PLAIN = [
    *("default-plain", "seedable-plain", "uneven-plain", "split-plain", "dispatch-plain"),
]


@pytest.fixture(scope="module")
def ranks(make_folder, tmp_path_factory):
    """What the two ranks wrote down; 13 samples are three batches of two each, and one over."""
    target = tmp_path_factory.mktemp("ranks")
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    done = subprocess.run(
        [*run, HERE / "accelerate_ranks.py", make_folder(images=IMAGES, seed=8), target],
        cwd=target,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE.parent)},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((target / f"rank{rank}.json").read_text()) for rank in (0, 1)]


def samples_in(batches):
    return [sample for samples, _ in batches for sample in samples]


def drawn_in(batches):
    return {round(total, 3) for _, sums in batches for total in sums}


@pytest.mark.parametrize("name", NATIVE + PLAIN)
def test_both_together_have_everything(ranks, name):
    """Accelerate fills up with the first samples where it makes batches even; else none is twice.

    In an epoch, no sample comes in two ways: every draw belongs to one epoch and sample.
    """
    for epoch in (0, 1):
        both = [rank[name]["epochs"][epoch] for rank in ranks]
        counts = Counter(samples_in(both[0]) + samples_in(both[1]))
        assert set(counts) == set(range(IMAGES))
        lengths = [len(samples_in(half)) for half in both]
        if name.startswith("uneven"):
            assert max(counts.values()) == 1
        else:
            assert lengths[0] == lengths[1]
            assert sum(counts.values()) <= IMAGES + 3


@pytest.mark.parametrize("name", NATIVE + [name for name in PLAIN if name != "seedable-plain"])
def test_another_epoch_has_another_order_and_other_draws(ranks, name):
    first, second = (
        [*ranks[0][name]["epochs"][epoch], *ranks[1][name]["epochs"][epoch]] for epoch in (0, 1)
    )
    assert samples_in(first) != samples_in(second)
    assert not drawn_in(first) & drawn_in(second)


@pytest.mark.parametrize("name", [n for n in NATIVE + PLAIN if not n.startswith("uneven")])
def test_metrics_are_gathered_once_per_sample(ranks, name):
    for rank in ranks:
        assert sorted(rank[name]["metrics"]) == list(range(IMAGES))
        assert rank[name]["batches"] == rank[name]["length"]


@pytest.mark.parametrize("name", ["default", "split"])
@pytest.mark.parametrize("how", ["native", "plain"])
def test_first_batches_are_skipped_on_both(ranks, name, how):
    for rank in ranks:
        ran = rank[f"{name}-{how}"]
        assert len(ran["skipped"]) == ran["length"] - 2
    both = samples_in(ranks[0][f"{name}-{how}"]["skipped"])
    both += samples_in(ranks[1][f"{name}-{how}"]["skipped"])
    assert max(Counter(both).values()) <= 2
    drawn = drawn_in(ranks[0][f"{name}-{how}"]["skipped"])
    earlier = [epoch for rank in ranks for epoch in rank[f"{name}-{how}"]["epochs"]]
    assert not any(drawn & drawn_in(epoch) for epoch in earlier), "its own epoch"


def test_a_saved_state_goes_on_on_both(ranks):
    for rank in ranks:
        whole, after = rank["resumed"]["whole"], rank["resumed"]["after"]
        assert len(whole) == 8
        assert after == whole[5:]


def test_a_loader_shares_by_itself(ranks):
    """As Accelerate does nothing with it, one sample more is there for both to have as many."""
    one, other = (rank["loader"] for rank in ranks)
    assert len(one) == len(other) == 7
    assert set(one + other) == set(range(IMAGES))
