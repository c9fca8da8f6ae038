"""Plain torchrun: two processes share every epoch, without a framework between."""

import os
import subprocess
import sys

import PIL.Image
import pytest

from penstock import Loader
from penstock import transforms as T

torch = pytest.importorskip("torch")
pytest.importorskip("torch.distributed.run")

pytestmark = pytest.mark.slow  # starts processes that import torch

SEED, EPOCHS, BATCHES_BEFORE_THE_STOP = 4, 3, 2
RANDOM = T.Compose([T.RandomResizedCrop(8), T.RandomHorizontalFlip(), T.ToDtype("float32", True)])
STILL = T.Compose([T.Resize((8, 8)), T.ToDtype("float32", scale=True)])

SCRIPT = """
import os, sys
from pathlib import Path
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler
import penstock
import test_torchrun as shared
from penstock.torch import DataLoader, Dataset

folder, output, kind = sys.argv[1:]
files = sorted(Path(folder).rglob("*.jpg"))
labels = range(len(files))
dist.init_process_group("gloo")
rank = dist.get_rank()

def make(transform, seed):
    if kind == "Loader":
        return penstock.Loader(
            files, labels=labels, transform=transform, batch_size=3, shuffle=True, seed=seed
        )
    dataset = Dataset(files, labels=labels, transform=transform, seed=seed)
    return DataLoader(dataset, batch_size=3, sampler=DistributedSampler(dataset, seed=seed))

def listed(batches):
    return [[labels.clone(), images.clone()] for images, labels in batches]

loader, epochs = make(shared.RANDOM, shared.SEED), []
for epoch in range(shared.EPOCHS):
    loader.set_epoch(epoch)
    epochs.append(listed(loader))

stopped = make(shared.RANDOM, shared.SEED)
stopped.set_epoch(1)
for number, _ in enumerate(stopped, 1):
    if number == shared.BATCHES_BEFORE_THE_STOP:
        torch.save(stopped.state_dict(), f"{output}/state_{rank}.pt")
        break
resumed = make(shared.RANDOM, shared.SEED)
resumed.load_state_dict(torch.load(f"{output}/state_{rank}.pt", weights_only=True))
rest = listed(resumed)
resumed.set_epoch(2)
after = listed(resumed)

still = listed(make(shared.STILL, shared.SEED))
seen = {"epochs": epochs, "rest": rest, "after": after, "still": still, "told": repr(loader)}
torch.save(seen, f"{output}/seen_{rank}.pt")
dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture(scope="module", params=["Loader", "DataLoader"])
def ranks(request, folder, tmp_path_factory):
    """What each of two processes saw."""
    output = tmp_path_factory.mktemp("ranks")
    script = output / "train.py"
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    tests = os.path.dirname(__file__)
    path = os.pathsep.join([tests, os.path.dirname(tests), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*launcher, str(script), str(folder), str(output), request.param],
        cwd=output,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path},
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [torch.load(output / f"seen_{rank}.pt", weights_only=True) for rank in (0, 1)]


def same(one, other):
    pairs = zip(one, other, strict=True)
    return all(
        torch.equal(a, b) for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True)
    )


def samples(batches):
    """(number, image) of each sample."""
    return [
        (int(label), image)
        for labels, images in batches
        for label, image in zip(labels, images, strict=True)
    ]


def numbers(batches):
    return [number for number, _ in samples(batches)]


def test_every_sample_is_on_one_rank(ranks):
    """23 samples are 12 for each of two: one is padding, nothing else comes twice."""
    for epoch in range(EPOCHS):
        shares = [numbers(rank["epochs"][epoch]) for rank in ranks]
        assert [len(share) for share in shares] == [12, 12]
        assert all(len(set(share)) == 12 for share in shares)
        assert set(shares[0]) | set(shares[1]) == set(range(23))


def test_epochs_differ_in_order_and_draws(ranks):
    orders = [numbers(ranks[0]["epochs"][epoch]) for epoch in range(EPOCHS)]
    assert len({tuple(order) for order in orders}) == EPOCHS
    first, second = (
        dict(samples([*ranks[0]["epochs"][e], *ranks[1]["epochs"][e]])) for e in (0, 1)
    )
    assert not any(torch.equal(first[number], second[number]) for number in first)


def test_draws_are_those_of_one_process(ranks, folder):
    """Keyed by seed, epoch and sample: on how many ranks an epoch is run changes no pixel."""
    files = sorted(folder.rglob("*.jpg"))
    alone = Loader(files, labels=range(23), transform=RANDOM, batch_size=23, seed=SEED)
    for epoch in range(EPOCHS):
        alone.set_epoch(epoch)
        ((images, _),) = alone
        both = [sample for rank in ranks for sample in samples(rank["epochs"][epoch])]
        seen = set()
        for number, image in both:
            if number not in seen:
                assert torch.equal(image, images[number])
            seen.add(number)


def test_a_run_that_was_stopped_goes_on(ranks):
    for rank in ranks:
        assert len(rank["rest"]) == len(rank["epochs"][1]) - BATCHES_BEFORE_THE_STOP
        assert same(rank["rest"], rank["epochs"][1][BATCHES_BEFORE_THE_STOP:])
        assert same(rank["after"], rank["epochs"][2])


def test_pixels_are_torchvisions_on_pillow(ranks, folder, torchvision):
    v2 = torchvision.transforms.v2
    theirs = v2.Compose(
        [v2.Resize((8, 8)), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
    )
    files = sorted(folder.rglob("*.jpg"))
    seen = {number for rank in ranks for number in numbers(rank["still"])}
    assert seen == set(range(23))
    for number, image in (sample for rank in ranks for sample in samples(rank["still"])):
        expected = theirs(PIL.Image.open(files[number]).convert("RGB"))
        assert torch.equal(image, expected)
