"""MixUp and CutMix in a loader: the same batches however they are made, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from penstock import Loader, TransformError
from penstock import transforms as T
from penstock.transforms.targets import read_targets

FLOATS = T.Compose([T.RandomResizedCrop(24), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)])
BACKENDS = ("native", "pillow")
OPS = {
    "MixUp": T.MixUp(num_classes=3),
    "CutMix": T.CutMix(num_classes=4),
    "choice": T.RandomChoice([T.MixUp(num_classes=3), T.CutMix(num_classes=3)]),
    "timm batch": T.MixUp.timm(0.8, 1.0, num_classes=3),
    "timm elem": T.MixUp.timm(0.8, 1.0, prob=0.8, mode="elem", num_classes=3),
    "timm pair": T.MixUp.timm(0.8, cutmix_minmax=(0.2, 0.8), mode="pair", num_classes=3),
}


def batches(data, op, **options):
    """One epoch, copied; 23 images leave a last batch of 2 or, for a size of 5, of 3."""
    common = {"transform": FLOATS, "batch_size": 5, "seed": 3, "shuffle": True, "output": "numpy"}
    if op == "timm pair":
        common |= {"batch_size": 4, "drop_last": True}
    loader = Loader(data, batch_transform=OPS.get(op, op), **(common | options))
    return [(images.copy(), labels) for images, labels in loader]


def assert_same(ours, expected) -> None:
    for (images, labels), (other_images, other_labels) in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(images, other_images)
        np.testing.assert_array_equal(labels, other_labels)


@pytest.mark.parametrize("options", [{}, {"layout": "hwc"}, {"dtype": "float16"}], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_native_equals_the_reference(folder: Path, isa: str, op: str, options) -> None:
    """The core's mixing and NumPy's."""
    assert_same(batches(folder, op, **options), batches(folder, op, backend="pillow", **options))


@pytest.mark.parametrize("op", ["MixUp", "CutMix", "timm elem"])
def test_bfloat16(folder: Path, op: str) -> None:
    """Which only torch can hold."""
    torch = pytest.importorskip("torch")
    options = {"dtype": "bfloat16", "output": "torch", "transform": FLOATS, "batch_size": 6}
    both = (Loader(folder, batch_transform=OPS[op], backend=b, **options) for b in BACKENDS)
    for (images, labels), (expected, expected_labels) in zip(*both, strict=True):
        assert torch.equal(images, expected)
        assert torch.equal(labels, expected_labels)
        assert labels.dtype == torch.float32


@pytest.mark.parametrize("op", OPS)
def test_threads_prefetch_and_resuming_change_nothing(folder: Path, op: str) -> None:
    """Draws belong to the batch."""
    expected = batches(folder, op, threads=1, prefetch=0)
    assert_same(batches(folder, op, threads=3, prefetch=4), expected)

    size = 4 if op == "timm pair" else 5
    options = {"transform": FLOATS, "seed": 3, "shuffle": True, "output": "numpy"}
    options |= {"batch_size": size, "batch_transform": OPS[op], "drop_last": op == "timm pair"}
    first, second = Loader(folder, **options), Loader(folder, **options)
    begun = iter(first)
    next(begun)
    next(begun)
    second.load_state_dict(first.state_dict())
    assert_same(second, expected[2:])


def test_a_batch_of_many_parts(make_folder) -> None:
    """Mixed once, when the last of its parts is there."""
    folder = make_folder(images=150, classes=2)
    op, options = T.MixUp(num_classes=2), {"batch_size": 150, "transform": FLOATS}
    plain = Loader(folder, output="numpy", **options)
    mixed = Loader(folder, output="numpy", batch_transform=op, threads=2, **options)
    (images, labels), (result, soft) = next(iter(plain)), next(iter(mixed))

    own = soft[np.arange(150), labels]
    share = own[labels != np.roll(labels, 1)][0]
    assert 0 < share < 1
    expected = images * share + np.roll(images, 1, axis=0) * np.float32(1 - share)
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_epochs_and_seeds_differ(folder: Path) -> None:
    """And so do batches."""
    options = {"batch_size": 5, "transform": FLOATS, "shuffle": True, "output": "numpy"}
    loader, other = (
        Loader(folder, batch_transform=OPS["MixUp"], seed=seed, **options) for seed in (0, 1)
    )
    labels = [labels for epoch in (loader, loader, other) for _, labels in epoch]
    smallest = [soft[soft > 0].min() for soft in labels]

    assert len(set(smallest)) == len(smallest) == 15


@pytest.mark.parametrize("op", ["MixUp", "CutMix", "timm elem"])
def test_left_out_samples_take_no_part(broken_folder: Path, op: str) -> None:
    """Those that are delivered are mixed with each other."""
    common = {"on_error": "skip", "batch_size": 7}
    mixed = batches(broken_folder, op, **common)
    plain = batches(broken_folder, None, **common)

    assert_same(mixed, batches(broken_folder, op, backend="pillow", **common))
    for (images, soft), (unmixed, labels) in zip(mixed, plain, strict=True):
        assert images.shape == unmixed.shape
        np.testing.assert_allclose(soft.sum(axis=1), 1, atol=1e-6)
        if op == "MixUp":
            expected = set(zip(labels.tolist(), np.roll(labels, 1).tolist(), strict=True))
            got = {tuple(np.flatnonzero(row).tolist()) for row in soft}
            assert got == {tuple(sorted({one, other})) for one, other in expected}


def test_substitutes_bring_their_labels(broken_folder: Path) -> None:
    """As without mixing."""
    op = T.MixUp.timm(prob=0, label_smoothing=0, num_classes=2)
    common = {"on_error": "substitute", "batch_size": 6}
    for (images, soft), (plain, labels) in zip(
        batches(broken_folder, op, **common), batches(broken_folder, None, **common), strict=True
    ):
        np.testing.assert_array_equal(images, plain)
        np.testing.assert_array_equal(soft.argmax(axis=1), labels)


def test_a_batch_of_nothing_is_left_out(tmp_path: Path) -> None:
    """Nothing to mix is no error."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.jpg").write_text("not an image")
    paths = sorted(tmp_path.glob("*.jpg"))
    loader = Loader(
        paths,
        labels=[0, 1, 2],
        transform=FLOATS,
        batch_transform=OPS["MixUp"],
        on_error="skip",
        output="numpy",
    )
    assert list(loader) == []


def test_levels_can_be_pasted_but_not_added_up(folder: Path) -> None:
    """CutMix copies, so uint8 stays uint8."""
    levels = {"transform": T.RandomResizedCrop(24), "output": "numpy"}
    assert_same(
        batches(folder, "CutMix", **levels), batches(folder, "CutMix", backend="pillow", **levels)
    )
    for op in ("MixUp", "choice", "timm batch"):
        with pytest.raises(TransformError, match="needs floating point, but the transforms end in"):
            Loader(folder, batch_transform=OPS[op], **levels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_transform": T.MixUp()}, "num_classes is missing. The data set has 3"),
        ({"batch_transform": T.CutMix(num_classes=2)}, "num_classes is 2, but .* has 3 classes"),
        ({"batch_transform": T.Resize(9)}, "does not work on batches"),
        ({"batch_transform": lambda images: images}, "does not work on batches"),
        ({"batch_transform": OPS["timm pair"], "batch_size": 3}, "batch_size is 3"),
        ({"batch_transform": OPS["timm pair"], "batch_size": 4}, "the last batch has 3"),
        (
            {"batch_transform": OPS["timm pair"], "batch_size": 22, "drop_last": True}
            | {"on_error": "skip"},
            "Use on_error='substitute'",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_once(folder: Path, options, message: str) -> None:
    """Before anything is read."""
    with pytest.raises(TransformError, match=message):
        Loader(folder, **({"transform": FLOATS} | options))


def test_boxes_are_not_mixed(folder: Path) -> None:
    """Nor anything else but labels."""
    boxes = np.tile([[1, 2, 11, 22]], (23, 1))
    with pytest.raises(TransformError, match="Use targets='labels'"):
        Loader(
            folder,
            targets=read_targets(np.arange(24), boxes=boxes),
            transform=FLOATS,
            batch_transform=OPS["MixUp"],
        )


def test_labels_must_be_class_numbers(tmp_path: Path) -> None:
    """Known at once for floats; a number that is too large, when it comes."""
    path = tmp_path / "gray.png"
    PIL.Image.new("RGB", (30, 30)).save(path)
    common = {"transform": FLOATS, "batch_transform": T.MixUp(num_classes=2), "output": "numpy"}
    with pytest.raises(TransformError, match="class numbers as labels, but there are float labels"):
        Loader([path], labels=[0.5], **common)
    for label in (2, -1):
        with pytest.raises(TransformError, match=f"a label is {label}, but labels must be between"):
            next(iter(Loader([path], labels=[label], **common)))
