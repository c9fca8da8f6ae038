"""What comes out of a loader: the right images, in the right order, in the form asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from penstock import Loader, LoaderError
from penstock import transforms as T
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_reference

TRAINING = T.Compose(
    [
        T.RandomResizedCrop(32),
        T.RandomHorizontalFlip(),
        T.RandomVerticalFlip(0.3),
        T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
    ]
)
PIPELINES = {
    "training": TRAINING,
    "evaluation": T.Compose([T.Resize(40), T.CenterCrop(32)]),
    "padded crop": T.Compose(
        [T.RandomCrop(36, padding=4, padding_mode="reflect"), T.Resize((9, 7))]
    ),
    "large center crop": T.CenterCrop(100),
    "flip before resize": T.Compose([T.RandomHorizontalFlip(), T.Resize((30, 31), "bicubic")]),
    "two resizes": T.Compose([T.Resize((50, 60), "lanczos"), T.Resize((20, 20), "box")]),
    "other arithmetic": T.Compose(
        [T.CenterCrop(32), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD, flavor="albumentations")]
    ),
    "coloured border": T.Compose([T.Pad(3, fill=(1, 2, 3)), T.Resize((24, 25))]),
}


def all_batches(loader: Loader) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of one epoch, joined."""
    images, labels = zip(*loader, strict=True)
    return np.concatenate(images), np.concatenate(labels)


@pytest.mark.parametrize("name", PIPELINES)
def test_native_equals_the_pillow_backend_and_the_reference(
    folder: Path, name: str, isa: str
) -> None:
    """Three ways to the same bytes."""
    transform = PIPELINES[name]
    common = {"batch_size": 5, "transform": transform, "seed": 3, "output": "numpy"}

    native, labels = all_batches(Loader(folder, **common, shuffle=True))
    pillow, pillow_labels = all_batches(Loader(folder, **common, shuffle=True, backend="pillow"))
    unshuffled, _ = all_batches(Loader(folder, **common))

    np.testing.assert_array_equal(native, pillow)
    np.testing.assert_array_equal(labels, pillow_labels)
    paths = sorted(folder.rglob("*.jpg"))
    plan = as_written(transform)
    for sample, path in enumerate(paths):
        image = PIL.Image.open(path).convert("RGB")
        expected = run_reference(plan, image, seed=3, epoch=0, sample=sample)
        np.testing.assert_array_equal(unshuffled[sample], expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
@pytest.mark.parametrize("layout", ["chw", "hwc"])
def test_element_types_and_layouts(folder: Path, dtype: str, layout: str, isa: str) -> None:
    """Whatever the form, it is the same image."""
    torch = pytest.importorskip("torch")
    common = {"batch_size": 8, "transform": TRAINING, "output": "torch"}

    images, labels = next(iter(Loader(folder, **common, dtype=dtype, layout=layout)))
    plain, _ = next(iter(Loader(folder, **common)))

    assert images.dtype == getattr(torch, dtype)
    assert labels.dtype == torch.int64
    if layout == "hwc":
        images = images.permute(0, 3, 1, 2)
    assert torch.equal(images, plain.to(images.dtype))


def test_uint8_is_the_default_without_normalise(folder: Path) -> None:
    """No transform promises floats, so none come."""
    images, _ = next(iter(Loader(folder, transform=T.Resize((8, 9)), output="numpy")))

    assert images.dtype == np.uint8
    assert images.shape == (1, 3, 8, 9)


def test_images_of_different_sizes_are_an_error(folder: Path) -> None:
    """A batch has one shape; the message says what to add."""
    loader = Loader(folder, batch_size=4, output="numpy")

    with pytest.raises(LoaderError, match=r"a batch needs one size.*Resize"):
        next(iter(loader))


def test_batches_are_not_overwritten_while_held(folder: Path) -> None:
    """Memory goes round only when nobody looks at it any more."""
    common = {"batch_size": 2, "transform": TRAINING, "output": "numpy"}

    held = [images for images, _ in Loader(folder, **common)]
    copied = [images.copy() for images, _ in Loader(folder, **common)]

    for one, other in zip(held, copied, strict=True):
        np.testing.assert_array_equal(one, other)


def test_length_and_drop_last(folder: Path) -> None:
    """23 images make 5 whole batches of 4 and one of 3."""
    common = {"batch_size": 4, "transform": T.Resize((4, 4)), "output": "numpy"}
    keeping, dropping = Loader(folder, **common), Loader(folder, **common, drop_last=True)

    assert [len(labels) for _, labels in keeping] == [4, 4, 4, 4, 4, 3]
    assert [len(labels) for _, labels in dropping] == [4, 4, 4, 4, 4]
    assert (len(keeping), len(dropping)) == (6, 5)


def test_every_epoch_has_its_own_order_and_draws(folder: Path) -> None:
    """Two iterations differ; the same epoch again is the same."""
    loader = Loader(folder, batch_size=23, transform=TRAINING, shuffle=True, output="numpy")

    first, first_labels = all_batches(loader)
    second, _ = all_batches(loader)
    loader.set_epoch(0)
    again, again_labels = all_batches(loader)

    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first_labels, again_labels)


def test_ranks_share_an_epoch(folder: Path) -> None:
    """Together they see every sample; each gives the image a lone loader would."""
    transform = T.Compose([T.RandomResizedCrop(16)])
    common = {"transform": transform, "shuffle": True, "output": "numpy"}
    alone, _ = all_batches(Loader(folder, **common))

    shares = [
        all_batches(Loader(folder, **common, rank=rank, world_size=4))[0] for rank in range(4)
    ]

    assert [len(share) for share in shares] == [6, 6, 6, 6]
    interleaved = np.stack(shares, axis=1).reshape(24, *alone.shape[1:])
    np.testing.assert_array_equal(interleaved[:23], alone)
    np.testing.assert_array_equal(interleaved[23], alone[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on, got 0"),
        ({"threads": 0}, "threads must be"),
        ({"prefetch": -1}, "prefetch must be"),
        ({"rank": 2, "world_size": 2}, "rank must be below world_size"),
        ({"on_error": "ignore"}, "on_error must be one of 'raise', 'skip', 'substitute'"),
        ({"layout": "nchw"}, "layout must be one of"),
        ({"output": "tensorflow"}, "output must be one of"),
        ({"dtype": "float32"}, "Add ToDtype"),
        ({"dtype": "float32", "transform": T.ToDtype("bfloat16"), "output": "numpy"}, None),
        ({"dtype": "uint8", "transform": TRAINING}, "Leave out ToDtype and Normalize"),
        ({"dtype": "bfloat16", "transform": TRAINING, "output": "numpy"}, "NumPy has no bfloat16"),
    ],
)
def test_bad_options_are_refused(
    folder: Path, options: dict[str, object], message: str | None
) -> None:
    """At construction, with the value and the way out."""
    if message is None:
        Loader(folder, **options)
        return
    with pytest.raises(LoaderError, match=message):
        Loader(folder, **options)
