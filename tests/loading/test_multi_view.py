"""Several views of each image: each is, bit for bit, what a loader of that view alone gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from penstock import Loader, LoaderError, pack
from penstock import transforms as T
from penstock.data.open_data import open_data
from penstock.errors import TransformError
from penstock.planner.plan import as_written
from penstock.reference.pipeline import run_views_reference
from penstock.transforms.targets import Targets

GLOBAL = T.Compose(
    [
        T.RandomResizedCrop(24, scale=(0.4, 1.0), interpolation="bicubic"),
        T.RandomHorizontalFlip(),
        T.RandomApply([T.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
        T.RandomGrayscale(0.2),
    ]
)
LOCAL = T.Compose([T.RandomResizedCrop(11, scale=(0.05, 0.4)), T.RandomHorizontalFlip()])
BLURRED = T.Compose([GLOBAL, T.GaussianBlur(3, (0.1, 2.0)), T.RandomSolarize(128, p=0.5)])
NORMALIZE = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)


def mine(pixels: PIL.Image.Image, rng: np.random.Generator) -> PIL.Image.Image:
    """A function of the user's that draws and computes."""
    return PIL.Image.fromarray(np.asarray(pixels) ^ np.uint8(rng.integers(0, 256)))


@ps.per_pixel
def brighter(pixels: np.ndarray) -> np.ndarray:
    """A function of the user's that crops may pass."""
    return np.minimum(pixels, 200) + np.uint8(50)


PIPELINES = {
    "two views": T.Compose([T.MultiView([GLOBAL] * 2), NORMALIZE]),
    "2 + 8": T.Compose([T.MultiView([GLOBAL, BLURRED, *[LOCAL] * 8]), NORMALIZE]),
    "one view": T.MultiView([LOCAL]),
    "crops and mirrors before": T.Compose(
        [T.RandomCrop(30), T.RandomHorizontalFlip(), T.MultiView([LOCAL, GLOBAL])]
    ),
    "work before, and after": T.Compose(
        [
            T.Resize(40),
            T.ColorJitter(0.4),
            T.MultiView([T.RandomCrop(20), T.CenterCrop(30)]),
            T.RandomVerticalFlip(),
            T.ToDtype("float32", scale=True),
            T.RandomErasing(p=0.7),
        ]
    ),
    "other values": T.MultiView(
        [
            T.Compose([LOCAL, NORMALIZE]),
            T.Compose([GLOBAL, T.ToDtype("float32", scale=True), T.RandomErasing(p=1, value=0.5)]),
        ]
    ),
    "borders, warps and whole images": T.MultiView(
        [
            T.Compose([T.Pad(5, fill=(1, 2, 3)), T.RandomRotation(30), T.Resize((20, 21))]),
            T.Resize((13, 14)),
            T.Compose([T.Grayscale(3), T.RandomCrop(12)]),
        ]
    ),
    "a function that crops may pass": T.Compose(
        [brighter, T.CenterCrop(39), T.RandomCrop(32), T.MultiView([LOCAL, GLOBAL])]
    ),
    "a function that crops may pass, then work": T.Compose(
        [
            brighter,
            T.CenterCrop(39),
            T.RandomCrop(32),
            T.Resize(29),
            T.MultiView([LOCAL, T.Compose([brighter, LOCAL])]),
        ]
    ),
    "functions": T.Compose(
        [
            mine,
            T.RandomCrop(32),
            T.MultiView([T.Compose([GLOBAL, mine, T.Resize(7), mine]), LOCAL, mine]),
            T.Resize((9, 9)),
        ]
    ),
}


def batches(loader: Loader) -> list[tuple[list[np.ndarray], np.ndarray]]:
    return list(loader)


def join_views(loader: Loader) -> list[np.ndarray]:
    """All images of an epoch, view by view."""
    return [np.concatenate(view) for view in zip(*(views for views, _ in loader), strict=True)]


@pytest.fixture(scope="module")
def mixed_folder(make_folder: Callable[..., Path]) -> Path:
    """JPEGs of odd sizes, colour and gray, progressive, and PNGs."""
    root = make_folder(images=11, classes=2, seed=4)
    rng = np.random.default_rng(0)
    for number, (height, width) in enumerate([(33, 35), (64, 33), (121, 67)]):
        pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        image = PIL.Image.fromarray(pixels)
        image.save(root / "class_0" / f"png_{number}.png")
        image.convert("L").save(root / "class_1" / f"gray_{number}.jpg")
        image.save(root / "class_1" / f"progressive_{number}.jpg", progressive=True)
    return root


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("packed", [False, True], ids=["files", "packed"])
def test_views_equal_the_reference_pillow_and_loaders_of_one_view(
    mixed_folder: Path, tmp_path: Path, name: str, packed: bool, isa: str
) -> None:
    """Four ways to the same bytes."""
    data = mixed_folder
    if packed:
        data = tmp_path / "mixed.pen"
        pack(mixed_folder, data)
    transform = PIPELINES[name]
    common: dict[str, Any] = {"batch_size": 5, "transform": transform, "seed": 3}
    loader = Loader(data, output="numpy", **common)

    views = join_views(loader)
    alone = [
        np.concatenate([images for images, _ in loader.replica(plan=view)])
        for view in loader.plan.views
    ]
    pillow = join_views(Loader(data, output="numpy", backend="pillow", **common))

    assert len(views) == len(loader.plan.views)
    for view, single, other in zip(views, alone, pillow, strict=True):
        np.testing.assert_array_equal(view, single)
        np.testing.assert_array_equal(view, other)
    source, plan = open_data(mixed_folder), as_written(transform)
    for sample in range(len(source)):
        with source.open(sample) as file, PIL.Image.open(file) as opened:
            image = opened.convert("RGB")
        expected = run_views_reference(plan, image, seed=3, epoch=0, sample=sample)
        for view, image_expected in zip(views, expected, strict=True):
            np.testing.assert_array_equal(view[sample], image_expected)


def test_a_view_is_a_pipeline_whose_steps_are_counted_on(folder: Path) -> None:
    """What docs/multiview.md says: steps that change nothing in front give a view's draws."""
    both = Loader(folder, transform=T.MultiView([GLOBAL, LOCAL]), output="numpy", batch_size=23)
    steps = [T.Identity()] * len(GLOBAL.transforms)
    alone = Loader(folder, transform=T.Compose([*steps, LOCAL]), output="numpy", batch_size=23)

    ((views, labels),), ((images, same_labels),) = both, alone

    np.testing.assert_array_equal(views[1], images)
    np.testing.assert_array_equal(labels, same_labels)


def test_equal_views_have_draws_of_their_own(folder: Path) -> None:
    loader = Loader(folder, transform=T.MultiView([LOCAL] * 2), output="numpy", batch_size=23)

    ((views, _),) = loader

    assert (views[0] != views[1]).any(axis=(1, 2, 3)).all()


def test_what_stands_before_is_drawn_once(folder: Path) -> None:
    before = [T.RandomRotation(90), T.RandomHorizontalFlip(), T.Resize((20, 20))]
    transform = T.Compose([*before, T.MultiView([T.Identity(), T.Identity()])])

    for views, _ in Loader(folder, transform=transform, output="numpy", batch_size=4):
        np.testing.assert_array_equal(views[0], views[1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("layout", ["chw", "hwc"])
def test_views_in_every_form(folder: Path, dtype: str, layout: str) -> None:
    """Tensors of their own, of the size of their view."""
    torch = pytest.importorskip("torch")
    transform = T.Compose([T.MultiView([GLOBAL, LOCAL]), NORMALIZE])
    common: dict[str, Any] = {"transform": transform, "batch_size": 6, "output": "torch"}

    views, labels = next(iter(Loader(folder, dtype=dtype, layout=layout, **common)))
    plain, _ = next(iter(Loader(folder, **common)))

    assert isinstance(views, list)
    assert labels.shape == (6,)
    for view, same, side in zip(views, plain, (24, 11), strict=True):
        turned = view if layout == "chw" else view.permute(0, 3, 1, 2)
        assert turned.shape == (6, 3, side, side)
        assert view.dtype == getattr(torch, dtype)
        assert torch.equal(turned, same.to(view.dtype))
        assert view.untyped_storage().nbytes() == view.nbytes


def test_views_are_not_overwritten_while_held(folder: Path) -> None:
    common: dict[str, Any] = {"batch_size": 3, "output": "numpy"}
    transform = T.MultiView([GLOBAL, LOCAL, LOCAL])

    held = batches(Loader(folder, transform=transform, **common))
    copied = [
        ([view.copy() for view in views], labels)
        for views, labels in Loader(folder, transform=transform, **common)
    ]

    for (views, _), (others, _) in zip(held, copied, strict=True):
        for view, other in zip(views, others, strict=True):
            np.testing.assert_array_equal(view, other)


def test_threads_ranks_and_resuming_change_nothing(folder: Path) -> None:
    transform = T.MultiView([GLOBAL, LOCAL, LOCAL])
    common: dict[str, Any] = {"transform": transform, "output": "numpy", "shuffle": True, "seed": 9}
    whole = batches(Loader(folder, batch_size=4, threads=1, **common))
    for threads in (2, 5):
        again = batches(Loader(folder, batch_size=4, threads=threads, prefetch=0, **common))
        assert [_bytes(batch) for batch in again] == [_bytes(batch) for batch in whole]

    loader = Loader(folder, batch_size=4, **common)
    started = iter(loader)
    for _ in range(2):
        next(started)
    resumed = Loader(folder, batch_size=4, **common)
    resumed.load_state_dict(loader.state_dict())
    assert [_bytes(batch) for batch in resumed] == [_bytes(batch) for batch in whole[2:]]

    ranks = [
        join_views(Loader(folder, batch_size=2, rank=rank, world_size=2, **common))
        for rank in (0, 1)
    ]
    all_views = [np.concatenate(view) for view in zip(*(views for views, _ in whole), strict=True)]
    for number, view in enumerate(all_views):
        np.testing.assert_array_equal(ranks[0][number], view[0::2])
        np.testing.assert_array_equal(ranks[1][number][:-1], view[1::2])


def _bytes(batch: tuple[list[np.ndarray], np.ndarray]) -> list[bytes]:
    views, labels = batch
    return [array.tobytes() for array in (*views, labels)]


@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_a_bad_file_is_bad_in_all_views(broken_folder: Path, on_error: str) -> None:
    """It is left out, or replaced, in every view alike."""
    transform = T.Compose([T.MultiView([GLOBAL, LOCAL, LOCAL]), NORMALIZE])
    common: dict[str, Any] = {"transform": transform, "output": "numpy", "on_error": on_error}
    common |= {"batch_size": 7, "seed": 2}
    native = Loader(broken_folder, **common)
    pillow = Loader(broken_folder, backend="pillow", **common)

    ours, theirs = batches(native), batches(pillow)

    assert [_bytes(batch) for batch in ours] == [_bytes(batch) for batch in theirs]
    assert all(len(view) == len(labels) for views, labels in ours for view in views)
    assert sum(len(labels) for _, labels in ours) < 27 or on_error == "substitute"


def test_columns_and_dictionaries(folder: Path, tmp_path: Path) -> None:
    """Beside a list of views, all else comes once."""
    transform = T.MultiView([GLOBAL, LOCAL])
    common: dict[str, Any] = {"transform": transform, "output": "numpy", "batch_size": 5}

    views, labels, names = next(iter(Loader(folder, columns=["label", "name"], **common)))
    batch = next(iter(Loader(folder, as_dict=True, **common)))

    assert [view.shape for view in views] == [(5, 3, 24, 24), (5, 3, 11, 11)]
    assert len(labels) == len(names) == 5
    assert [view.tobytes() for view in batch["image"]] == [view.tobytes() for view in views]
    np.testing.assert_array_equal(batch["label"], labels)


def test_reduced_decoding_is_that_of_each_view(make_photos: Callable[[int], Path]) -> None:
    """fidelity="fast": views that are decoded at different scales each keep theirs."""
    large = T.RandomResizedCrop(200, scale=(0.5, 1.0))
    small = T.RandomResizedCrop(16, scale=(0.3, 1.0))
    loader = Loader(
        make_photos(5),
        transform=T.MultiView([large, small, T.RandomCrop(30), small, T.Resize((9, 9))]),
        batch_size=5,
        fidelity="fast",
        output="numpy",
    )

    ((views, _),) = loader

    for view, plan in zip(views, loader.plan.views, strict=True):
        ((alone, _),) = loader.replica(plan=plan)
        np.testing.assert_array_equal(view, alone)


def test_sizes_that_differ_name_the_view(folder: Path) -> None:
    loader = Loader(folder, transform=T.MultiView([LOCAL, T.Identity()]), batch_size=4)

    with pytest.raises(LoaderError, match=r"Batch 0: view 2 of sample 0 is .* one size"):
        next(iter(loader))


def test_what_cannot_have_views_is_refused(folder: Path) -> None:
    views = T.Compose([T.MultiView([LOCAL] * 2), NORMALIZE])

    with pytest.raises(TransformError, match=r"MixUp.*MultiView makes several images"):
        Loader(folder, transform=views, batch_transform=T.MixUp(num_classes=3))
    with pytest.raises(LoaderError, match=r"MultiView .* boxes, keypoints or masks"):
        Loader(folder, transform=views, targets=Targets.empty(23))
