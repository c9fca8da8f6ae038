"""Every transform prints as the call that makes it, and none can be made that lacks a step."""

import pickle

import pytest

from penstock import transforms as T
from penstock.transforms.mix_called import CalledOnBatches
from penstock.transforms.policies.called import CalledPolicy
from penstock.transforms.several_crops import _SeveralCrops


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (T.RandomHorizontalFlip(), "RandomHorizontalFlip()"),
        (T.RandomHorizontalFlip(0.2), "RandomHorizontalFlip(p=0.2)"),
        (T.RandomResizedCrop(224, (0.2, 1.0)), "RandomResizedCrop(size=224, scale=(0.2, 1.0))"),
        (
            T.Resize((4, 5), T.InterpolationMode.BICUBIC),
            "Resize(size=(4, 5), interpolation=InterpolationMode.BICUBIC)",
        ),
        (T.Pad((1, 2), padding_mode="edge"), "Pad(padding=(1, 2), padding_mode='edge')"),
        (T.ToDtype("float16", scale=True), "ToDtype(dtype='float16', scale=True)"),
    ],
)
def test_a_transform_prints_as_the_call_that_makes_it(transform, text):
    assert repr(transform) == text
    assert eval(f"T.{text}", {"T": T, "InterpolationMode": T.InterpolationMode}) == transform  # noqa: S307
    assert pickle.loads(pickle.dumps(transform)) == transform  # noqa: S301


def test_compose_prints_one_transform_a_line():
    inner = T.Compose([T.CenterCrop(2)])

    assert repr(T.Compose([T.Pad(1), inner])) == (
        "Compose([\n    Pad(padding=1),\n    Compose([\n        CenterCrop(size=2),\n    ]),\n])"
    )


@pytest.mark.parametrize(
    "text",
    [
        "ColorJitter(brightness=0.4, hue=(-0.1, 0.1))",
        "RandomPhotometricDistort(p=0.3)",
        "GaussianBlur(kernel_size=(3, 5))",
        "RandomErasing(value='random')",
        "RandomRotation(degrees=10, expand=True)",
        "RandomAffine(degrees=(-5, 5), translate=(0.1, 0.2))",
        "RandomApply(transforms=[Grayscale()], p=0.3)",
        "RandomOrder(transforms=(Grayscale(), RandomInvert()))",
        "RandAugment()",
        "RandAugment(num_ops=3, flavor='tpu')",
        "RandAugment.from_timm('rand-m9-mstd0.5-inc1')",
        "RandAugment.from_timm('rand-m9', {'translate_pct': 0.3})",
        "AutoAugment(policy=AutoAugmentPolicy.SVHN)",
        "TrivialAugmentWide(num_magnitude_bins=11)",
        "AugMix(severity=5)",
        "PopulationBasedAugment(epochs=100)",
    ],
)
def test_an_augmentation_prints_as_the_call_that_makes_it(text):
    transform = eval(text, vars(T).copy())  # noqa: S307

    assert repr(transform) == text
    assert pickle.loads(pickle.dumps(transform)) == transform  # noqa: S301


@pytest.mark.parametrize(
    ("base", "lacking"),
    [(CalledPolicy, "augment"), (_SeveralCrops, "_crops"), (CalledOnBatches, "mix_images")],
)
def test_what_lacks_a_step_cannot_be_made(base, lacking):
    incomplete = type("Incomplete", (base,), {})

    with pytest.raises(TypeError, match=rf"abstract.*{lacking}"):
        incomplete()
