"""timm's create_loader: the same batches, and refusals that are true."""

import random

import numpy as np
import PIL.ImageOps
import pytest

from penstock.errors import TranslationError
from tests.translation.accelerate.reading import accelerate, explain_translation


@pytest.fixture(scope="module")
def timm_data(tv):
    return pytest.importorskip("timm.data", reason="timm is not installed: see requirements/")


@pytest.fixture(scope="module")
def create(tv, timm_data, folder):
    """A maker of timm's loaders over the generated folder, on the CPU."""

    def make(dataset=None, **given):
        dataset = dataset or timm_data.ImageDataset(str(folder))
        options = {"input_size": (3, 32, 32), "batch_size": 4, "num_workers": 0}
        return timm_data.create_loader(
            dataset, device=tv.torch.device("cpu"), **{**options, **given}
        )

    return make


def posterize_to_any_bits(image, bits, posterize=PIL.ImageOps.posterize):
    """What timm asks for at times, and Pillow refuses since version 13: no bits are black."""
    return posterize(image, bits) if bits else image.point(lambda _: 0)


def all_images(loader):
    return np.concatenate([np.asarray(images) for images, _ in loader])


def same_batches(tv, theirs):
    ours = accelerate(theirs)
    assert not ours.translation.python_steps
    count = 0
    for one, other in zip(ours, theirs, strict=True):
        assert type(one) is type(other)
        assert one[0].dtype == other[0].dtype
        assert tv.torch.equal(one[0], other[0])
        assert tv.torch.equal(one[1], other[1])
        count += 1
    assert count == len(ours)
    return ours


@pytest.mark.parametrize("use_prefetcher", [True, False])
@pytest.mark.parametrize("crop_mode", ["center", "squash", "border"])
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_evaluation(tv, create, use_prefetcher, crop_mode, interpolation):
    loader = create(use_prefetcher=use_prefetcher, crop_mode=crop_mode, interpolation=interpolation)
    ours = same_batches(tv, loader)

    assert ours.classes == ("class_0", "class_1", "class_2")


def test_other_shapes_and_borders(tv, create):
    same_batches(tv, create(input_size=(3, 24, 40), crop_border_pixels=2, crop_pct=1.0))


def test_training_without_augmentation(tv, create):
    loader = create(is_training=True, no_aug=True)
    ours = accelerate(loader)
    images, labels = next(iter(ours))

    assert images.shape == (4, 3, 32, 32)
    assert labels.dtype == tv.torch.int64
    assert len(ours) == len(loader)


TRAINING = [
    {},
    {"auto_augment": "rand-m9-mstd0.5-inc1", "re_prob": 0.5, "re_mode": "pixel"},
    {"auto_augment": "original-mstd0.5", "interpolation": "random", "vflip": 0.5},
    {"auto_augment": "v0r", "train_crop_mode": "rkrr", "color_jitter_prob": 0.5},
    {"auto_augment": "rand-n3-p0.7-tweights-mmax8", "train_crop_mode": "rkrc"},
    {"color_jitter": (0.4, 0.3, 0.2, 0.1), "grayscale_prob": 0.2, "re_prob": 1.0},
]


@pytest.mark.parametrize("use_prefetcher", [True, False])
@pytest.mark.parametrize("given", TRAINING, ids=str)
def test_training(tv, create, use_prefetcher, given, monkeypatch):
    """Draws are the loader's own; the values are of the kind that timm's are."""
    monkeypatch.setattr(PIL.ImageOps, "posterize", posterize_to_any_bits)
    random.seed(3)
    tv.torch.manual_seed(3)
    theirs = create(is_training=True, use_prefetcher=use_prefetcher, **given)
    ours = accelerate(theirs, seed=1)
    assert not ours.translation.python_steps
    images, expected = all_images(ours), all_images(theirs)
    again = all_images(accelerate(theirs, seed=1))

    np.testing.assert_array_equal(images, again)
    assert images.shape == expected.shape
    assert images.dtype == expected.dtype
    assert abs(images.mean() - expected.mean()) < 0.5
    assert abs(images.std() - expected.std()) < 0.5


def test_a_loader_that_goes_on_from_epoch_to_epoch(tv, create):
    loader = create(use_multi_epochs_loader=True)
    ours = accelerate(loader)
    plain = create()
    for (images, labels), (expected, expected_labels) in zip(ours, plain, strict=True):
        assert tv.torch.equal(images, expected)
        assert tv.torch.equal(labels, expected_labels)


REFUSED = {
    "half": ({"img_dtype": "float16"}, "PrefetchLoader: it computes in torch.float16"),
    "colours": (
        {"is_training": True, "re_prob": 0.1, "re_mode": "rand"},
        "mode 'rand' draws a colour for each rectangle",
    ),
    "rectangles": ({"is_training": True, "re_prob": 0.1, "re_count": 3}, "erases 1 to 3 rectangle"),
    "split": (
        {"is_training": True, "re_prob": 0.1, "re_split": True},
        "it spares a part of each batch",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tv, create, name):
    given, message = REFUSED[name]
    if "img_dtype" in given:
        given = {"img_dtype": getattr(tv.torch, given["img_dtype"])}
    with pytest.raises(TranslationError, match=message) as raised:
        accelerate(create(**given))
    assert len(raised.value.reasons) == 1


def test_mixing_is_refused_with_the_way_on(tv, create, timm_data):
    from timm.data import FastCollateMixup

    mixing = FastCollateMixup(mixup_alpha=0.2, num_classes=3)
    with pytest.raises(TranslationError, match=r"batch_transform=MixUp\.timm"):
        accelerate(create(is_training=True, collate_fn=mixing))


def test_a_dataset_that_is_not_followed(tv, create, timm_data, folder):
    dataset = timm_data.ImageDataset(str(folder), target_transform=str)
    with pytest.raises(TranslationError, match="target_transform is given, and what comes of it"):
        accelerate(create(dataset))


def test_what_stays_in_python(tv, create):
    translation = explain_translation(
        create(is_training=True, auto_augment="augmix-m3", use_prefetcher=False)
    )

    (line,) = translation.python_steps
    assert line.theirs.startswith("AugMixAugment")
    assert "rounds once for the chains and once for the blend" in line.note
