"""Draws that cost less: the same results, and generators where they would be."""

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import RandomResizedCrop, autoaugment, v2

from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.torchvision_draws import _wrap_search

BOUNDS = (  # of areas and ratios: usual ones, few that fit, none that fits (narrow and wide), whole
    ((0.08, 1.0), (3 / 4, 4 / 3)),
    ([0.5, 1], [1, 2]),
    ((0.9, 1.0), (0.1, 9.0)),
    ((0.9, 1.0), (7.0, 9.0)),
    ((0.9, 1.0), (0.01, 0.02)),
    ((1.5, 2.0), (0.5, 2.0)),
)
OPTIONS = ({}, {"trials": 3}, {"sampler_options": [0.9, 0.3, 2.0]}, {"min_scale": 0.9})
FORMATS = ("XYXY", "XYWH", "CXCYWH")


@pytest.fixture(autouse=True)
def _hooks():
    install()


def boxes_in(rng, height, width, kind):
    """Some boxes; those of the second kind are whole, and some of them have no area."""
    count = rng.integers(1, 7)
    across, down = (np.sort(rng.random((count, 2)) * side, axis=1) for side in (width, height))
    corners = np.stack([across[:, 0], down[:, 0], across[:, 1], down[:, 1]], axis=1)
    if kind:
        corners = corners.round()
        corners[0, 2:] = corners[0, :2]
    made = tv_tensors.BoundingBoxes(
        corners.astype(np.float32), format="XYXY", canvas_size=(height, width)
    )
    return v2.functional.convert_bounding_box_format(made, new_format=rng.choice(FORMATS))


def drawn(transform, inputs, seed, *, deferred):
    torch.manual_seed(seed)
    if deferred:
        with deferring(Counts()):
            found = transform.make_params(inputs)
    else:
        found = transform.make_params(inputs)
    told = {
        name: one.tolist() if isinstance(one, torch.Tensor) else one for name, one in found.items()
    }
    kinds = {name: type(one) for name, one in found.items()}
    return told, kinds, torch.rand(3).tolist()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_search_for_a_crop_ends_where_it_would(options):
    rng = np.random.default_rng(0)
    transform = v2.RandomIoUCrop(**options)
    found = 0
    for seed in range(60):
        height, width = map(int, rng.integers(2, 400, 2))
        image = torch.empty(3, height, width, dtype=torch.uint8)
        inputs = [image, boxes_in(rng, height, width, seed % 2)]
        ours = drawn(transform, inputs, seed, deferred=True)
        found += bool(ours[0])

        assert ours == drawn(transform, inputs, seed, deferred=False), seed

    assert found > 10


UNUSUAL = {
    "integers": tv_tensors.BoundingBoxes([[1, 2, 9, 9]], format="XYXY", canvas_size=(12, 12)),
    "doubles": tv_tensors.BoundingBoxes(
        torch.tensor([[1, 2, 9, 9.5]], dtype=torch.float64), format="XYXY", canvas_size=(12, 12)
    ),
    "turned": tv_tensors.BoundingBoxes(
        torch.tensor([[5.0, 5.0, 4.0, 3.0, 20.0]]), format="CXCYWHR", canvas_size=(12, 12)
    ),
    "none": tv_tensors.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=(12, 12)),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_boxes_of_other_kinds_are_torchvisions_to_search_with(kind):
    asked = []
    search = _wrap_search(lambda *_: asked.append(kind))
    with deferring(Counts()):
        search(v2.RandomIoUCrop(), [torch.empty(3, 12, 12), UNUSUAL[kind]])

    assert asked == [kind]


POLICIES = {
    "AutoAugment": autoaugment.AutoAugment(),
    "RandAugment": autoaugment.RandAugment(),
    "TrivialAugmentWide": autoaugment.TrivialAugmentWide(),
    "AugMix": autoaugment.AugMix(),
}


def space_of(policy, bins=9, size=(30, 20)):
    by_size = not isinstance(policy, autoaugment.TrivialAugmentWide)
    return policy._augmentation_space(*((bins, size) if by_size else (bins,)))


def told(space):
    return {name: (one.tolist(), signed) for name, (one, signed) in space.items()}


@pytest.mark.parametrize("name", POLICIES)
def test_the_magnitudes_of_a_policy(name):
    policy = POLICIES[name]
    expected = told(space_of(policy)), told(space_of(policy, 5, (7, 9)))
    with deferring(Counts()):
        for _ in range(2):
            assert (told(space_of(policy)), told(space_of(policy, 5, (7, 9)))) == expected
        assert space_of(policy)["ShearX"][0] is space_of(policy)["ShearX"][0]


def test_who_changes_a_magnitude_does_not_change_that_of_others():
    policy = POLICIES["RandAugment"]
    expected = told(space_of(policy))
    with deferring(Counts()):
        space_of(policy)["ShearX"][0].mul_(2)
        del space_of(policy)["ShearY"]

        assert told(space_of(policy)) == expected


@pytest.mark.parametrize(("scale", "ratio"), BOUNDS, ids=str)
def test_a_resized_crop_is_the_one_that_would_be_drawn(scale, ratio):
    rng = np.random.default_rng(0)
    newer = v2.RandomResizedCrop(8, scale, ratio)
    for seed in range(40):
        width, height = map(int, rng.integers(1, 500, 2))
        image = Image.new("RGB", (width, height))
        found = []
        for deferred in (False, True):
            torch.manual_seed(seed)
            if deferred:
                with deferring(Counts()):
                    box = RandomResizedCrop.get_params(image, scale, ratio)
            else:
                box = RandomResizedCrop.get_params(image, scale, ratio)
            kinds = [type(one) for one in box]
            found.append((box, kinds, torch.rand(3).tolist()))
        assert found[0] == found[1]
        assert drawn(newer, [image], seed, deferred=False) == drawn(
            newer, [image], seed, deferred=True
        )


def test_bounds_that_are_no_pairs_of_numbers_are_left_to_torchvision():
    image = Image.new("RGB", (30, 20))
    ratio = np.array([0.5, 2.0])  # of double precision
    torch.manual_seed(0)
    expected = RandomResizedCrop.get_params(image, (0.2, 1.0), ratio)
    torch.manual_seed(0)
    with deferring(Counts()):
        assert RandomResizedCrop.get_params(image, (0.2, 1.0), ratio) == expected


def test_another_type_of_floats_is_left_to_torchvision():
    image = Image.new("RGB", (30, 20))
    found = []
    torch.set_default_dtype(torch.float64)
    try:
        for counts in (None, Counts()):
            torch.manual_seed(0)
            if counts is None:
                found.append(RandomResizedCrop.get_params(image, (0.2, 1.0), (0.5, 2.0)))
            else:
                with deferring(counts):
                    found.append(RandomResizedCrop.get_params(image, (0.2, 1.0), (0.5, 2.0)))
    finally:
        torch.set_default_dtype(torch.float32)
    assert found[0] == found[1]
