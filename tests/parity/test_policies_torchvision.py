"""Policies against torchvision's: every op at every level, the tables, and how often what happens.

torchvision runs AugMix on tensors even if it is given a Pillow image; ours does each op as Pillow
does, so there only the mixing can be compared.
"""

import numpy as np
import pytest
from PIL import Image

from drawn import applied, batch, effects_of
from penstock import transforms as T
from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Size, Sizes
from penstock.reference.effects import apply_effect
from penstock.rng import Draws
from penstock.transforms import mixing
from penstock.transforms.policies import auto_augment, rand_augment, spaces
from penstock.transforms.policies.ops import draw_signs, make_scene, policy_move
from statistics_of_draws import assert_same_distribution, assert_same_frequencies
from strategies import make_image

SPACES = {
    "RandAugment of 31 bins": (spaces.rand_augment_ops(31), 31),
    "RandAugment of 7 bins": (spaces.rand_augment_ops(7), 7),
    "TrivialAugmentWide": (spaces.trivial_augment_ops(31), 31),
    "AutoAugment": (spaces.auto_augment_ops(), 10),
    "AugMix": (spaces.augmix_ops(with_enhancements=True), 10),
}


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


@pytest.mark.parametrize("size", [(17, 30), (31, 20)])
@pytest.mark.parametrize("space", SPACES)
def test_every_op_at_every_level(v2, space, size):
    ops, bins = SPACES[space]
    kind = getattr(v2, space.split()[0])
    theirs = kind()
    image = make_image(size)
    assert [op.name for op in ops] == list(kind._AUGMENTATION_SPACE)
    interpolation = "bilinear" if bins == 7 else "nearest"
    number = T.InterpolationMode(interpolation).pillow_filter
    cases = [(level, sign) for level in range(bins) for sign in (-1.0, 1.0)]
    levels, signs = np.array(cases).T
    sizes = Sizes(np.full(len(cases), size[0]), np.full(len(cases), size[1]))

    for which, op in enumerate(ops):
        magnitudes_of, signed = kind._AUGMENTATION_SPACE[op.name]
        assert op.signed == signed
        scene = make_scene(sizes, number, (7, 8, 9))
        move = policy_move(ops, np.full(len(cases), which), levels, signs, scene)
        for row, (level, sign) in enumerate(cases):
            magnitudes = magnitudes_of(bins, *size)
            magnitude = 0.0 if magnitudes is None else float(magnitudes[level])
            if op.name == "Posterize" and magnitude == 0:
                assert not applied([move], image, row).any()  # Pillow 13 refuses, tensors are black
                continue
            expected = theirs._apply_image_or_video_transform(
                image,
                op.name,
                magnitude * sign if signed else magnitude,
                interpolation=interpolation,
                fill={"others": [7, 8, 9]},
            )
            assert np.array_equal(applied([move], image, row), np.asarray(expected)), op.name


OLDER = {
    "RandAugment": (spaces.rand_augment_ops, True),
    "TrivialAugmentWide": (spaces.trivial_augment_ops, False),
}


@pytest.mark.parametrize("bins", [2, 7, 10, 11, 16, 31])
@pytest.mark.parametrize("name", OLDER)
def test_every_op_of_the_older_transforms(v2, name, bins):
    """Among them Solarize, whose threshold falls on other pixels than v2's at some levels."""
    from torchvision import transforms as v1
    from torchvision.transforms.autoaugment import _apply_op

    make_ops, wants_size = OLDER[name]
    image = make_image((17, 30))
    size = (image.height, image.width)
    theirs = getattr(v1, name)(num_magnitude_bins=bins)
    space = theirs._augmentation_space(*((bins, size) if wants_size else (bins,)))
    levels = np.arange(bins, dtype=float)
    sizes = Sizes(np.full(bins, size[0]), np.full(bins, size[1]))
    ops = make_ops(bins, 1)
    assert [op.name for op in ops] == list(space)
    for which, op in enumerate(ops):
        magnitudes = space[op.name][0]
        scene = make_scene(sizes, T.InterpolationMode.NEAREST.pillow_filter, (0, 0, 0))
        move = policy_move(ops, np.full(bins, which), levels, np.ones(bins), scene)
        for level in range(bins):
            magnitude = float(magnitudes[level]) if magnitudes.ndim else 0.0
            expected = _apply_op(image, op.name, magnitude, v1.InterpolationMode.NEAREST, None)
            assert np.array_equal(applied([move], image, level), np.asarray(expected)), op.name


def test_the_older_auto_augment(v2):
    from torchvision import transforms as v1
    from torchvision.transforms.autoaugment import _apply_op

    image = make_image((17, 30))
    magnitudes, _ = v1.AutoAugment()._augmentation_space(10, (17, 30))["Solarize"]
    ops = spaces.auto_augment_ops(1)
    which = [op.name for op in ops].index("Solarize")
    scene = make_scene(Sizes(np.full(10, 17), np.full(10, 30)), 0, (0, 0, 0))
    move = policy_move(ops, np.full(10, which), np.arange(10.0), np.ones(10), scene)
    for level in range(10):
        expected = _apply_op(
            image, "Solarize", float(magnitudes[level]), v1.InterpolationMode.NEAREST, None
        )
        assert np.array_equal(applied([move], image, level), np.asarray(expected))


@pytest.mark.parametrize("kind", [T.RandAugment, T.TrivialAugmentWide, T.AutoAugment])
def test_flavors_differ_in_solarize_only(kind):
    """Draws are the same, so all other ops are."""
    older, newer = batch(kind(flavor="torchvision_v1"), 400), batch(kind(), 400)
    for mine, other in zip(older, newer, strict=True):
        assert np.array_equal(mine.effect, other.effect)
        rows = mine.effect != Effect.SOLARIZE
        assert np.array_equal(mine.numbers[rows], other.numbers[rows])
    with pytest.raises(TransformError, match="flavor must be"):
        kind(flavor="older")


def test_rand_augment_on_photos(v2, in1k):
    """Two ops after each other, as drawn for real."""
    theirs = v2.RandAugment()
    names = [op.name for op in spaces.rand_augment_ops(31)]
    for path in in1k[:8]:
        image = Image.open(path).convert("RGB")
        size = (image.height, image.width)
        moves = batch(T.RandAugment(2, 9), 4, size)
        draws = Draws(0, 0, np.arange(4), 0)
        turns = [(draws.integers(14), draw_signs(draws)) for _ in range(2)]
        for row in range(4):
            expected = image
            for chosen, signs in turns:
                name = names[chosen[row]]
                magnitudes_of, signed = theirs._AUGMENTATION_SPACE[name]
                magnitudes = magnitudes_of(31, *size)
                magnitude = 0.0 if magnitudes is None else float(magnitudes[9])
                expected = theirs._apply_image_or_video_transform(
                    expected,
                    name,
                    magnitude * signs[row] if signed else magnitude,
                    interpolation="nearest",
                    fill={"others": None},
                )
            assert np.array_equal(applied(moves, image, row), np.asarray(expected))


@pytest.mark.parametrize("bins", [2, 3, 10, 31, 100])
def test_magnitudes_are_torchs_to_the_bit(torchvision, bins):
    import torch

    if torch.backends.cpu.get_cpu_capability() not in {"AVX2", "AVX512"}:
        pytest.skip("torch rounds otherwise without fused multiplication and addition")
    levels = np.arange(bins)
    for start, end in [(0.0, 0.3), (1.0, 0.0), (0.0, 135.0), *((0.0, w / 3.0) for w in range(99))]:
        ours = spaces.linspace_at(levels, start, end, bins)
        assert ours.tolist() == torch.linspace(start, end, bins).tolist()


@pytest.mark.parametrize("policy", list(T.AutoAugmentPolicy), ids=str)
def test_auto_augment_tables(v2, policy):
    theirs = v2.AutoAugment()._get_policies(getattr(v2.AutoAugmentPolicy, policy.name))
    ours = auto_augment.sub_policies(policy)
    names = [op.name for op in spaces.auto_augment_ops()]
    read = [
        tuple(
            (names[ours.op[pair, turn]], ours.probability[pair, turn], ours.bin[pair, turn])
            for turn in range(2)
        )
        for pair in range(len(ours.op))
    ]

    assert read == [tuple((n, p, float(level or 0)) for n, p, level in pair) for pair in theirs]


def test_policies_take_torchvisions_enum(v2):
    op = T.AutoAugment(v2.AutoAugmentPolicy.SVHN, v2.InterpolationMode.BILINEAR)

    assert op._policy is T.AutoAugmentPolicy.SVHN


def recorded(monkeypatch, module, op, count, size=(40, 60)):
    """(name, argument) of everything our policy drew, a list for each turn."""
    turns = []

    def record(ops, chosen, levels, signs, scene):
        turn = [("nothing", 0.0)] * len(chosen)
        for which, known in enumerate(ops):
            rows = np.flatnonzero(chosen == which)
            values = np.zeros(len(rows))
            if known.argument is not None:
                values = known.argument(levels[rows], scene.at(rows).sizes)
            if known.signed:
                values = values * signs[rows]
            for row, value in zip(rows.tolist(), values.tolist(), strict=True):
                turn[row] = (known.name, round(value, 4))
        turns.append(turn)
        return policy_move(ops, chosen, levels, signs, scene)

    def record_binned(ops, levels, chosen, bins, signs, sizes, look):
        return record(ops, chosen, np.array(levels)[bins], signs, make_scene(sizes, *look))

    monkeypatch.setattr(module, "policy_move", record, raising=False)
    monkeypatch.setattr(module, "binned_move", record_binned, raising=False)
    batch(op, count, size)
    return turns


def recorded_theirs(monkeypatch, op, count, size=(40, 60)):
    """The same of torchvision: a list of (name, magnitude) for each image."""
    import torch

    torch.manual_seed(0)
    image = Image.new("RGB", size[::-1])
    images = []

    def record(given, name, magnitude, **_):
        images[-1].append((name, round(magnitude, 4)))
        return given

    monkeypatch.setattr(op, "_apply_image_or_video_transform", record)
    for _ in range(count):
        images.append([])
        op(image)
    return images


def test_rand_augment_frequencies(v2, monkeypatch):
    ours = recorded(monkeypatch, rand_augment, T.RandAugment(3, 5, 11), 8000)
    theirs = recorded_theirs(monkeypatch, v2.RandAugment(3, 5, 11), 4000)

    for turn in range(3):
        assert_same_frequencies(ours[turn], [image[turn] for image in theirs])
    pairs = zip(ours[0], ours[1], strict=True)
    assert_same_frequencies(
        [(a[0], b[0]) for a, b in pairs], [(image[0][0], image[1][0]) for image in theirs]
    )


def test_trivial_augment_frequencies(v2, monkeypatch):
    (ours,) = recorded(monkeypatch, rand_augment, T.TrivialAugmentWide(5), 12000)
    theirs = recorded_theirs(monkeypatch, v2.TrivialAugmentWide(5), 6000)

    assert_same_frequencies(ours, [image[0] for image in theirs])


@pytest.mark.parametrize("policy", ["IMAGENET", "SVHN"])
def test_auto_augment_frequencies(v2, monkeypatch, policy):
    first, second = recorded(monkeypatch, auto_augment, T.AutoAugment(policy.lower()), 12000)
    together = [
        tuple(entry for entry in pair if entry[0] != "nothing")
        for pair in zip(first, second, strict=True)
    ]
    their_op = v2.AutoAugment(getattr(v2.AutoAugmentPolicy, policy))
    theirs = recorded_theirs(monkeypatch, their_op, 6000)

    assert_same_frequencies(together, [tuple(image) for image in theirs])


def test_augmix_frequencies(v2, monkeypatch):
    ours = recorded(monkeypatch, rand_augment, T.AugMix(mixture_width=1, all_ops=False), 12000)
    chains = [
        [entry for entry in turns if entry[0] != "nothing"] for turns in zip(*ours, strict=True)
    ]
    theirs = recorded_theirs(monkeypatch, v2.AugMix(mixture_width=1, all_ops=False), 6000)

    assert_same_frequencies([len(chain) for chain in chains], [len(chain) for chain in theirs])
    assert_same_frequencies([chain[0] for chain in chains], [chain[0] for chain in theirs])


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("count", [2, 3])
def test_weights_are_dirichlets(torchvision, alpha, count):
    import torch

    torch.manual_seed(0)
    theirs = torch._sample_dirichlet(torch.full((4000, count), alpha)).numpy()
    ours = mixing.draw_weights(Draws(0, 0, np.arange(20000), 0), alpha, count)

    np.testing.assert_allclose(ours.sum(axis=0), 1)
    for part in range(count):
        assert_same_distribution(ours[part].astype(np.float32), theirs[:, part])


def test_augmix_adds_up_as_torch_does(torchvision):
    import torch

    image = make_image((20, 30))
    pixels = torch.from_numpy(np.asarray(image).copy())
    moves = batch(T.AugMix(severity=5, alpha=0.7), 20, (20, 30))
    for row in range(20):
        chain = image
        for effect, parameters in effects_of(moves, row):
            weight = torch.tensor(parameters.get("weight", 0), dtype=torch.float32)
            if effect == Effect.MIX_BEGIN:
                mix = weight * pixels
            elif effect == Effect.MIX_ADD:
                mix.add_(weight * torch.from_numpy(np.asarray(chain).copy()))
                chain = image
            elif effect != Effect.MIX_END:
                chain = apply_effect(chain, Effect(effect), parameters, Size(20, 30))
        assert np.array_equal(applied(moves, image, row), mix.to(torch.uint8).numpy())
