"""Accelerated recipes give the pixels and labels of the DataLoaders they were made from."""

from __future__ import annotations

import numpy as np
import PIL.Image
import pytest

from corpus.data_folders import DATA, folder_of
from forced_draws import drawn_by, forced
from penstock.loading.sampler import Order
from tests.translation.accelerate.reading import accelerate, explain_translation

DETERMINISTIC = ["validate v1", "validate v2", "list of files", "Subset", "batches of 7"]
RANDOM = [
    "train v1",
    "train v2",
    "RandAugment",
    "TrivialAugment",
    "ColorJitter",
    "RandomErasing",
    "gray loader",
]
SEED = 3


@pytest.fixture(scope="module")
def recipes(torchvision):
    from benchmarks.accelerate import recipes

    return recipes


@pytest.fixture(scope="module", params=["generated", *DATA])
def setting(request, recipes, folder, tmp_path_factory):
    """Small generated images, and photos."""
    if request.param == "generated":
        return recipes.Setting(folder, side_px=33, batch_size=5)
    root = tmp_path_factory.mktemp("photos")
    for index, path in enumerate(sorted((folder_of(request.param) / "in1k").glob("*.[jJ]*"))[::6]):
        (root / str(index % 3)).mkdir(exist_ok=True)
        (root / str(index % 3) / path.name).symlink_to(path)
    return recipes.Setting(root, side_px=112, batch_size=8)


def test_all_recipes_are_tested(recipes):
    assert sorted(DETERMINISTIC + RANDOM) == sorted(recipes.RECIPES)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_same_batches(recipes, setting, name):
    import torch

    theirs = recipes.RECIPES[name](setting)
    ours = accelerate(theirs)

    assert len(ours) == len(theirs)
    for batch, expected in zip(ours, theirs, strict=True):
        assert type(batch) is type(expected)
        for mine, other in zip(batch, expected, strict=True):
            assert mine.dtype == other.dtype
            assert torch.equal(mine, other)


@pytest.mark.parametrize("name", RANDOM)
def test_the_same_pixels_for_the_same_parameters(recipes, setting, name):
    import torch

    theirs = recipes.RECIPES[name](setting)
    ours = accelerate(theirs, seed=SEED)
    dataset = theirs.dataset
    order = Order(len(dataset), SEED, 0, shuffle=True).at(np.arange(len(dataset)))
    batches = list(ours)

    assert len(batches) == len(theirs)
    images = torch.cat([batch[0] for batch in batches])
    labels = torch.cat([batch[1] for batch in batches])
    assert sorted(order) == list(range(len(dataset)))
    for place, sample in enumerate(order.tolist()):
        width, height = PIL.Image.open(dataset.samples[sample][0]).size
        drawn = drawn_by(ours.plan, (height, width), seed=SEED, epoch=0, sample=sample)
        with forced(dataset.transform.transforms, drawn):
            expected, label = dataset[sample]
        assert labels[place] == label
        assert torch.equal(images[place], expected), f"{name}, sample {sample}"


def test_nothing_runs_as_python(recipes, setting):
    for name, make in recipes.RECIPES.items():
        translation = explain_translation(make(setting))
        assert not translation.python_steps, name
        assert not translation.refusals, name
