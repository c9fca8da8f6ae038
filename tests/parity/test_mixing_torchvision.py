"""MixUp and CutMix of whole batches, against torchvision v2: images, labels, boxes, draws."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import transforms as T
from penstock._core import Element
from penstock.geometry import Size
from penstock.loading.mix import mix_native, soften
from penstock.reference.pipeline import mix_reference
from penstock.rng import BATCH_STREAM, Draws
from penstock.transforms.batch_op import draws_of_batch
from penstock.transforms.mixing import draw_weights, torchvision_box
from statistics_of_draws import assert_same_distribution

CLASSES = 7
COUNT = 9


@pytest.fixture(scope="module")
def v2(torchvision):
    from torchvision.transforms import v2

    return v2


def mixings(op, size, count=COUNT, epochs=200):
    """What is drawn for many batches."""
    draws = (Draws(3, epoch, np.arange(count), BATCH_STREAM) for epoch in range(epochs))
    return [op.sample(drawn, size) for drawn in draws]


def images_and_labels(size, element="float32"):
    import torch

    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.normal(0, 1.3, (COUNT, 3, size.height, size.width)))
    return images.to(getattr(torch, element)), torch.from_numpy(rng.integers(0, CLASSES, COUNT))


def bits(tensor):
    import torch

    return tensor.view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()


@pytest.mark.parametrize("mix_images", [mix_native, mix_reference])
@pytest.mark.parametrize("element", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
def test_images_and_labels_for_the_same_draws(v2, monkeypatch, name, element, mix_images):
    """Given what we drew, torchvision's own forward makes the same batch and the same labels."""
    size = Size(24, 31)
    ours, theirs = (getattr(module, name)(num_classes=CLASSES) for module in (T, v2))
    for epoch, mixing in enumerate(mixings(ours, size, epochs=20)):
        images, labels = images_and_labels(size, element)
        top, left, height, width = mixing.box[0].tolist()
        if name == "MixUp":
            drawn = {"lam": share_of(ours, epoch)}
        else:
            left_over = 1.0 - height * width / (size.height * size.width)
            drawn = {"box": (left, top, left + width, top + height), "lam_adjusted": left_over}
        monkeypatch.setattr(theirs, "make_params", lambda _, drawn=drawn: drawn)
        expected_images, expected_labels = theirs(images, labels)

        mixed = bits(images).copy()
        mix_images(mixed, np.arange(COUNT), mixing, Element[element.upper()], "chw")
        np.testing.assert_array_equal(mixed, bits(expected_images))
        soft = soften(labels.numpy(), mixing, ours)
        assert soft.dtype == np.float32
        np.testing.assert_array_equal(soft, expected_labels.numpy())


def share_of(op, epoch):
    """MixUp's share before it is rounded to float32."""
    draws = draws_of_batch(Draws(3, epoch, np.arange(COUNT), BATCH_STREAM))
    return float(draw_weights(draws, op.alpha, 2)[0, 0])


@pytest.mark.parametrize("size", [Size(1, 1), Size(1, 9), Size(24, 31), Size(224, 224)], ids=str)
def test_boxes_for_the_same_share_and_centre(v2, monkeypatch, size):
    """Of torchvision's CutMix itself, its random numbers replaced."""
    import torch

    rng = np.random.default_rng(1)
    theirs = v2.CutMix(num_classes=2)
    image = torch.zeros(1, 3, size.height, size.width)
    for share in [0.0, 1.0, *rng.random(100)]:
        y, x = int(rng.integers(size.height)), int(rng.integers(size.width))
        centre = iter([x, y])
        monkeypatch.setattr(
            torch, "randint", lambda *_, centre=centre, **__: torch.tensor([next(centre)])
        )
        theirs._dist = FixedShare(share)
        drawn = theirs.make_params([image])

        centre_y, centre_x = (np.array([place]) for place in (y, x))
        box = torchvision_box(np.array([share]), centre_y, centre_x, size)
        top, left, height, width = box[0].tolist()
        assert (left, top, left + width, top + height) == drawn["box"]


class FixedShare:
    """Stands in for a distribution."""

    def __init__(self, share):
        self.share = share

    def sample(self, _):
        return np.float64(self.share)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 2.5])
def test_shares_have_torchvisions_distribution(v2, alpha):
    import torch

    torch.manual_seed(0)
    theirs = v2.MixUp(alpha=alpha, num_classes=2)
    expected = np.array([theirs.make_params([])["lam"] for _ in range(4000)])
    drawn = mixings(T.MixUp(alpha=alpha), Size(4, 4), count=1, epochs=4000)

    assert_same_distribution(np.array([mixing.own[0] for mixing in drawn]), expected)


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_boxes_have_torchvisions_distribution(v2, alpha):
    import torch

    torch.manual_seed(0)
    size = Size(40, 60)
    theirs = v2.CutMix(alpha=alpha, num_classes=2)
    drawn = [theirs.make_params([torch.zeros(1, 3, 40, 60)]) for _ in range(4000)]
    expected = np.array([params["box"] for params in drawn])
    ours = mixings(T.CutMix(alpha=alpha), size, count=1, epochs=4000)
    boxes = np.array([mixing.box[0] for mixing in ours])
    ends = boxes[:, :2] + boxes[:, 2:]

    edges = (boxes[:, 1], boxes[:, 0], ends[:, 1], ends[:, 0])
    for edge, their_edge in zip(edges, expected.T, strict=True):
        assert_same_distribution(edge, their_edge)
    shares = np.array([params["lam_adjusted"] for params in drawn], dtype=np.float32)
    assert_same_distribution(np.array([mixing.own[0] for mixing in ours]), shares)
