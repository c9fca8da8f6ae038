"""Lists of torchvision's transforms, tried on made photos, without a clock."""

import pytest

from penstock.costs.ops import Arguments
from penstock.reordering.explain import find_order
from penstock.reordering.inputs import Inputs
from penstock.reordering.rules import choose_rules
from penstock.reordering.steps import read_steps
from penstock.reordering.trials import Times, Trials
from tests.corpus.photos import photo as made_photo


class CountingTrials(Trials):
    """An op takes a millisecond for each megapixel that it gets: no clock, so no noise."""

    def race(self, orders, seconds):
        del seconds
        return [self.count(order) for order in orders]

    def count(self, order):
        met = self.images(order)
        steps = {
            step.number: images.pixels / len(images.sizes) / 1e6
            for step, images in zip(order, met, strict=False)
        }
        return Times(steps, (sum(steps.values()),) * 3, 3)


@pytest.fixture(params=["v1", "v2"])
def ops(request, torchvision):
    """Both generations of torchvision's transforms."""
    transforms = torchvision.transforms
    return transforms if request.param == "v1" else transforms.v2


@pytest.fixture(scope="session")
def photos():
    """Photos of several sizes, portrait and landscape."""
    sizes = ((180, 240), (241, 180), (200, 333))
    return [made_photo(number, *size) for number, size in enumerate(sizes)]


@pytest.fixture
def trials_of(photos):
    """Trials of a list on these photos."""

    def make(transform, images=photos):
        return CountingTrials(Inputs(transform, tuple(Arguments((one,)) for one in images), "made"))

    return make


@pytest.fixture
def new_order(trials_of, photos):
    """Names of the ops in the order that the rules find, and of the rules that were used."""

    def find(transform, fidelity="exact", allow=(), images=photos):
        trials = trials_of(transform, images)
        order, swaps = find_order(trials, read_steps(transform), choose_rules(fidelity, allow))
        return [step.name for step in order], {swap.rule.name for swap in swaps}

    return find
