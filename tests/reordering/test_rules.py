"""What a rule promises, checked in torchvision: the same bytes, or no farther than its bound."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from PIL import Image

from penstock.costs.ops import Arguments
from penstock.errors import PenstockError
from penstock.planner.rules.rule import Fidelity
from penstock.reordering.explain import find_order
from penstock.reordering.rules import RULES, choose_rules
from penstock.reordering.steps import read_steps
from penstock.reordering.trials import levels, run

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")

SEEDS = range(6)


def results(order, image, seed):
    """What comes out in an order, with the same draws for each op wherever it stands."""
    *_, last = run(order, Arguments((image.copy(),)), seed, 0)
    return last.image


def exact_lists(ops):
    """Lists in which only rules apply that let every op draw what it drew before."""
    colour = [
        *(ops.ColorJitter(brightness=0.8), ops.ColorJitter(0.4, 0, 0.4, 0.1)),
        *(ops.RandomGrayscale(1.0), ops.RandomInvert(1.0)),
        *(ops.RandomPosterize(3, 1.0), ops.RandomSolarize(100, 1.0)),
    ]
    crops = [
        *(ops.RandomCrop(61), ops.RandomCrop((50, 71)), ops.CenterCrop((63, 80))),
        ops.RandomCrop(99, padding=7, padding_mode="symmetric"),
    ]
    for effect, crop in product(colour, crops):
        yield [effect, crop]
        yield [ops.PILToTensor(), effect, crop]
    for crop in crops:
        yield [ops.ToTensor(), ops.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.25]), crop]
        yield [ops.ToTensor(), ops.ColorJitter(0.4, 0, 0.4, 0.1), crop]
        yield [
            *(ops.PILToTensor(), ops.ConvertImageDtype(torch.float32)),
            *(ops.Normalize([0.5] * 3, [0.2] * 3), ops.RandomHorizontalFlip()),
            *(ops.RandomVerticalFlip(), crop),
        ][: 5 if crop is not crops[2] else 6]
    yield [ops.RandomApply([ops.ColorJitter(0.4), ops.RandomGrayscale()], p=0.8), crops[0]]
    yield [ops.PILToTensor(), ops.RandomCrop(99, padding=9)]


def test_an_exact_order_gives_the_same_bytes(ops, trials_of, photos):
    used = set()
    for transforms in exact_lists(ops):
        transform = ops.Compose(transforms)
        trials, written = trials_of(transform), read_steps(transform)
        order, swaps = find_order(trials, written, choose_rules("exact"))
        used |= {swap.rule.name for swap in swaps}
        assert order != written, transform
        for image, seed in product(photos, SEEDS):
            expected = np.asarray(results(written, image, seed))
            np.testing.assert_array_equal(np.asarray(results(order, image, seed)), expected)

    named = {rule.name for rule in RULES if rule.fidelity is Fidelity.EXACT}
    assert used == named - {"crop_before_flip"}  # which is below


def windows_forced(monkeypatch, crop, window):
    """Let a RandomCrop cut out this window: top, left, height, width."""
    if hasattr(crop, "make_params"):
        names = ("top", "left", "height", "width")
        params = {"needs_crop": True, "needs_pad": False, **dict(zip(names, window, strict=True))}
        monkeypatch.setattr(type(crop), "make_params", lambda *_: params)
    else:
        monkeypatch.setattr(type(crop), "get_params", lambda *_: window)


@pytest.mark.parametrize("flip", ["RandomHorizontalFlip", "RandomVerticalFlip"])
def test_cropping_before_mirroring_gives_the_same_results_equally_often(ops, flip, monkeypatch):
    """All windows of a small image, as likely as each other, in both orders."""
    pixels = np.random.default_rng(0).integers(0, 256, (7, 6, 3), dtype=np.uint8)
    image, crop = Image.fromarray(pixels), ops.RandomCrop((4, 3))
    found = []
    for flip_first in (True, False):
        counted = Counter()
        for top, left, chance in product(range(4), range(4), (0.0, 1.0)):
            windows_forced(monkeypatch, crop, (top, left, 4, 3))
            mirrored = getattr(ops, flip)(chance)
            both = [mirrored, crop] if flip_first else [crop, mirrored]
            counted[np.asarray(ops.Compose(both)(image)).tobytes()] += 1
        found.append(counted)

    assert found[0] == found[1]
    assert sum(found[0].values()) == 32


def fast_lists(ops, torchvision):
    """Lists for each fast rule, with the rule's name."""
    modes = torchvision.transforms.InterpolationMode
    smooth = [
        *(ops.ColorJitter(0.4, 0.4, 0.4, 0.1), ops.ColorJitter(contrast=0.5)),
        *(ops.RandomGrayscale(1.0), ops.RandomInvert(1.0)),
    ]
    for resize in (ops.Resize(64), ops.Resize((50, 70), interpolation=modes.BICUBIC)):
        yield "resize_before_flip", [ops.RandomHorizontalFlip(1.0), resize]
        yield "resize_before_flip", [ops.PILToTensor(), ops.RandomVerticalFlip(1.0), resize]
        yield "resize_before_float", [ops.ToTensor(), resize]
        for effect in smooth:
            yield "resize_before_per_pixel", [effect, resize]
    for effect in smooth:
        yield "per_pixel_before_enlarging", [ops.Resize(300), effect]
    convert = ops.ConvertImageDtype(torch.float32)
    yield "resize_before_float", [ops.PILToTensor(), convert, ops.Resize(64)]
    yield "hue_before_tensor", [ops.ToTensor(), ops.ColorJitter(0.4, 0.4, 0.4, 0.1)]
    turn = ops.RandomRotation(30, interpolation=modes.BILINEAR)
    shear = ops.RandomAffine(10, scale=(0.8, 1.2), shear=8, interpolation=modes.BILINEAR)
    yield "resize_before_warp", [turn, ops.Resize(90)]
    yield "resize_before_warp", [shear, ops.Resize(90)]
    yield "crop_before_neighbourhood", [ops.GaussianBlur(5, (0.5, 2.0)), ops.RandomCrop(90)]
    yield "crop_before_neighbourhood", [ops.RandomAdjustSharpness(2, 1.0), ops.CenterCrop(90)]


def test_a_fast_order_stays_within_its_bound(ops, torchvision, trials_of, photos):
    bounds = {rule.name: rule.bound for rule in RULES if rule.fidelity is Fidelity.FAST}
    seen = set()
    for name, transforms in fast_lists(ops, torchvision):
        transform = ops.Compose(transforms)
        trials, written = trials_of(transform), read_steps(transform)
        order, swaps = find_order(trials, written, choose_rules("fast"))
        assert name in {swap.rule.name for swap in swaps}, transform
        seen.add(name)
        for image, seed in product(photos, SEEDS[:3]):
            apart = np.abs(
                levels(results(order, image, seed)) - levels(results(written, image, seed))
            )
            assert apart.mean() <= bounds[name].mean, (name, transform)
            assert apart.max() <= bounds[name].most, (name, transform)
            psnr_db = 10 * np.log10(255**2 / max((apart**2).mean(), 1e-9))
            assert psnr_db >= bounds[name].psnr_db, (name, transform)

    assert seen == set(bounds)


def test_what_is_told_of_a_swap_was_measured(ops, trials_of):
    transform = ops.Compose([ops.ColorJitter(0.8), ops.Resize(64)])
    trials = trials_of(transform)
    _, (swap,) = find_order(trials, read_steps(transform), choose_rules("fast"))

    assert swap.rule.name == "resize_before_per_pixel"
    assert 0 < swap.difference.mean < 3


def test_every_rule_explains_itself():
    for rule in RULES:
        assert rule.summary.endswith("."), rule.name
        assert rule.why.endswith("."), rule.name
        assert (rule.bound is not None) == (rule.fidelity is Fidelity.FAST)


def test_unknown_names_are_refused():
    with pytest.raises(PenstockError, match="'quick'"):
        choose_rules("quick")
    with pytest.raises(PenstockError, match=r"'crop_frist'.*crop_before_warp"):
        choose_rules("exact", ("crop_frist",))
