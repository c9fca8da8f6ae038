"""The examples run, and do what they say."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from scripts_environment import environment_for

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))

# What keeps a training short; the other examples are short anyway.
SMALL = {
    "train_classifier": ["--images", "80", "--batch-size", "8", "--epochs", "2"],
    "train_detector": ["--images", "24", "--batch-size", "4", "--epochs", "2"],
}
SMALL_SEARCH = ["--images", "40", "--judges", "20", "--epochs", "4", "--population", "4"]
ARGUMENTS = {**SMALL, "ray_schedule": [*SMALL_SEARCH, "--seeds", "1"]}
# Frameworks that an example is about.
NEEDS = {
    "accelerate_loop": ["accelerate"],
    "from_hugging_face": ["datasets"],
    "grain_pipeline": ["grain", "jax"],
    "hf_trainer": ["transformers", "accelerate"],
    "jax_two_devices": ["jax"],
    "lightning_fit": ["lightning"],
    "ray_schedule": ["ray", "pyarrow"],
    "ray_train": ["ray", "pyarrow"],
    "timm_loop": ["timm"],
    "webdataset_tars": ["webdataset"],
}
TWO_RANKS = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def run(name, folder, *arguments, launcher=()):
    """Return what an example prints."""
    for framework in ("torch", *NEEDS.get(name, ())):
        if find_spec(framework) is None:  # importing it here would take seconds
            pytest.skip(f"{framework} is not installed")
    example = FOLDER / f"{name}.py"
    done = subprocess.run(
        [sys.executable, *launcher, example, *ARGUMENTS.get(name, ()), *arguments],
        cwd=folder,
        env=environment_for(example),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def epochs_in(text):
    return re.findall(r"^epoch .*$", text, re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    """An example that a reader cannot run is worse than none."""
    assert run(example.stem, tmp_path)


@pytest.mark.parametrize("name", SMALL)
def test_a_resumed_training_goes_on_as_if_never_stopped(name, tmp_path):
    """Stopped in the middle of the second epoch, whose mean loss must come out the same."""
    whole = epochs_in(run(name, tmp_path, "--precision", "bfloat16"))
    batches = {"train_classifier": 10, "train_detector": 6}[name]
    stop_at = str(batches + batches // 2)
    before = run(name, tmp_path, "--precision", "bfloat16", "--stop-after", stop_at)
    after = run(name, tmp_path, "--precision", "bfloat16", "--resume")

    assert f"stopped after batch {stop_at}" in before
    assert epochs_in(before) + epochs_in(after) == whole
    assert len(whole) == 2


@pytest.mark.parametrize("name", SMALL)
def test_two_ranks_train_together(name, tmp_path):
    """Also stopped in the middle of an epoch and resumed."""
    whole = epochs_in(run(name, tmp_path, launcher=TWO_RANKS))
    before = run(name, tmp_path, "--stop-after", "4", launcher=TWO_RANKS)
    after = run(name, tmp_path, "--resume", launcher=TWO_RANKS)

    assert "rank 0 of 2 (torch.distributed)" in before
    assert epochs_in(before) + epochs_in(after) == whole
    assert len(whole) == 2


def test_two_ranks_of_torchrun_see_half_of_every_epoch_each(tmp_path):
    told = run("torchrun", tmp_path, launcher=TWO_RANKS)
    seen = set(re.findall(r"epoch \d: rank \d of 2 saw 32", told))
    assert seen == {f"epoch {e}: rank {rank} of 2 saw 32" for e in (0, 1) for rank in (0, 1)}


def test_the_examples_of_frameworks_go_on_from_the_middle_of_an_epoch(tmp_path):
    """With the batches that an uninterrupted training has; on two ranks, too."""
    assert "resumed after 4 steps: the same losses" in run("lightning_fit", tmp_path)
    alone = run("accelerate_loop", tmp_path)
    assert "rank 0: resumed, the same batches" in alone
    both = run("accelerate_loop", tmp_path, launcher=TWO_RANKS)
    assert "rank 0: resumed, the same batches" in both
    assert "rank 1: resumed, the same batches" in both


def test_two_ranks_of_a_trainer_evaluate_every_sample_once(tmp_path):
    told = run("hf_trainer", tmp_path, launcher=TWO_RANKS)
    assert re.findall(r"^epoch 2: \d+ of 64 right$", told, re.MULTILINE)


@pytest.fixture
def detector(monkeypatch, torchvision):
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "train_detector", raising=False)
    return pytest.importorskip("train_detector")


def found(torch, boxes, scores, labels=None):
    return {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "scores": torch.tensor(scores),
        "labels": torch.tensor(labels or [1] * len(scores), dtype=torch.int64),
    }


def test_average_precision(detector):
    torch = pytest.importorskip("torch")
    near, far = [0.0, 0, 10, 10], [50.0, 50, 60, 60]
    truth = {"boxes": torch.tensor([near, far]), "labels": torch.tensor([1, 1])}
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.int64)}

    def precision(*pairs):
        return detector.mean_average_precision(list(pairs))

    both = found(torch, [near, far], [0.9, 0.8])
    assert precision((both, truth)) == 1
    assert precision((found(torch, [near], [0.9]), truth)) == 0.5
    assert precision((found(torch, [], []), truth)) == 0
    # The second detection of the same object is wrong: precision 1, 1/2, 2/3 at recall 1/2, 1/2, 1.
    twice = found(torch, [near, [0, 0, 10, 9], far], [0.9, 0.8, 0.7])
    assert precision((twice, truth)) == pytest.approx(0.5 + 0.5 * 2 / 3)
    # A surer one on an image without objects: precision 0, 1/2, 2/3.
    stray = found(torch, [near], [0.95])
    assert precision((both, truth), (stray, nothing)) == pytest.approx(2 / 3)
    # An overlap below a half does not count, nor does another class.
    assert precision((found(torch, [[0, 0, 10, 4.9]], [0.9]), truth)) == 0
    assert precision((found(torch, [near], [0.9], labels=[2]), truth)) == 0


def test_plain_nms_keeps_the_surest_of_those_that_overlap(detector):
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 0, 11, 10], [30, 0, 40, 10], [0, 0, 10, 3]])
    kept = detector.plain_nms(boxes, torch.tensor([0.5, 0.9, 0.2, 0.1]), 0.5)

    assert kept.tolist() == [1, 2, 3]
    empty = detector.plain_nms(torch.zeros(0, 4), torch.zeros(0), 0.5)
    assert empty.tolist() == []
