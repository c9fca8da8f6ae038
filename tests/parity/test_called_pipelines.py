"""Called, lists of our transforms give torchvision's results from the same seed, to the bit."""

import math

import numpy as np
import pytest

from called_samples import CASES, both, check, sample_with_targets, tensor_of
from penstock import transforms as T
from strategies import make_image

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")


def random_pipeline(rng, depth=0):
    """A pair of equal transforms: a single one, or several that are composed."""
    kinds = ["single"] * 4 + (
        ["Compose", "RandomApply", "RandomChoice", "RandomOrder"] if depth < 3 else []
    )
    kind = str(rng.choice(kinds)) if depth else "Compose"
    if kind == "single":
        inside = [case for case in CASES if case[0] not in ONLY_AT_THE_END]
        return both(*inside[rng.integers(len(inside))])
    parts = [random_pipeline(rng, depth + 1) for _ in range(rng.integers(1, 5))]
    arguments = {}
    if kind == "RandomApply":
        arguments["p"] = float(rng.uniform(0.2, 1))
    if kind == "RandomChoice" and rng.integers(2):
        arguments["p"] = rng.uniform(0.1, 1, len(parts)).tolist()
    ours, theirs = zip(*parts, strict=True)
    return getattr(T, kind)(list(ours), **arguments), getattr(v2, kind)(list(theirs), **arguments)


ONLY_AT_THE_END = (
    # what changes the type, the channels or the number of images; and what needs room
    *("ToImage", "PILToTensor", "ToPureTensor", "FiveCrop", "TenCrop", "Grayscale"),
    *("ElasticTransform", "GaussianBlur", "RandomCrop", "Pad", "JPEG"),
)


@pytest.mark.parametrize("number", range(30))
def test_random_pipelines(number):
    rng = np.random.default_rng(number)
    ours, theirs = random_pipeline(rng)
    image = make_image((36, 45), seed=number)
    for seed in range(4):
        check(ours, theirs, seed, image)
        check(ours, theirs, seed, tensor_of(image, torch.uint8))
        check(ours, theirs, seed, tensor_of(image, torch.float32))
        check(ours, theirs, seed, (image, 5))


def test_a_training_pipeline():
    def steps(library):
        return [
            library.RandomResizedCrop(24),
            library.RandomHorizontalFlip(),
            library.TrivialAugmentWide(),
            library.ToImage(),
            library.ToDtype(torch.float32, scale=True),
            library.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            library.RandomErasing(0.5),
        ]

    for seed in range(40):
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, make_image((40, 50)))
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, make_image((40, 50)), 3)


def test_a_detection_pipeline():
    def steps(library):
        return [
            library.RandomPhotometricDistort(),
            library.RandomZoomOut(fill={tv_tensors.Image: (123, 117, 104), "others": 0}),
            library.RandomIoUCrop(),
            library.RandomHorizontalFlip(),
            library.Resize((30, 30)),
            library.SanitizeBoundingBoxes(),
        ]

    for seed in range(20):
        image = tv_tensors.Image(tensor_of(make_image((40, 50)), torch.uint8))
        sample = sample_with_targets(image, seed=seed)
        target = {key: sample[key] for key in ("boxes", "labels", "masks")}
        check(T.Compose(steps(T)), v2.Compose(steps(v2)), seed, image, target)


def test_chances_are_compared_in_single_precision():
    """Where a drawn number equals p in float32, a comparison of doubles could differ."""
    from penstock.transforms.torch_draws import chance

    state = torch.get_rng_state()
    for seed in range(50):
        torch.manual_seed(seed)
        drawn = torch.rand(1)
        for p in (drawn.item(), math.nextafter(drawn.item(), 1), math.nextafter(drawn.item(), 0)):
            torch.manual_seed(seed)
            assert chance(p) == bool(drawn < p)
    torch.set_rng_state(state)
