"""Loaders of many kinds, and whether `batch_at` gives what they deliver."""

import json
from typing import Any

import numpy as np

import penstock as ps
from folders import make_image
from packing.samples import ListSource
from penstock import transforms as T
from penstock.packing.items import BOX_LABELS, BOXES, PackItem

SEED = 11
CROPS = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), T.ColorJitter(0.3, 0.3)])
ENDED = T.Compose([CROPS, T.Normalize((0.5,) * 3, (0.2,) * 3), T.RandomErasing()])
VIEWS = T.Compose(
    [
        T.RandomHorizontalFlip(),
        T.MultiView(
            [
                T.RandomResizedCrop(16),
                T.RandomResizedCrop(16),
                T.Compose([T.RandomCrop(20), lambda image: image.rotate(90), T.RandAugment()]),
            ]
        ),
    ]
)


def turn(image, rng):
    """A function of the user's that draws, and changes sizes."""
    return image.rotate(90 * int(rng.integers(4)), expand=True)


IN_PYTHON = T.Compose([T.RandomCrop(30), turn, T.RandomResizedCrop(16), T.RandomVerticalFlip()])
BUCKETS = ps.BucketBatches([(16, 16), (12, 24), (24, 12)])
CHOICE = T.RandomChoice([T.MixUp(num_classes=3), T.CutMix(num_classes=3)])

WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "in order": {"shuffle": False},
    "drop last": {"drop_last": True},
    "rank": {"rank": 1, "world_size": 3},
    "rank, drop last": {"rank": 2, "world_size": 3, "drop_last": True},
    "indices": {"indices": [4, 9, 4, 1, 22, 9, 9]},
    "long epochs": {"samples_per_epoch": 57},
    "weights": {"weights": range(23), "samples_per_epoch": 30},
    "without replacement": {"weights": range(1, 24), "replacement": False, "samples_per_epoch": 9},
    "balanced": {"sampling": ps.ClassBalanced(0.5)},
    "weighted": {"sampling": ps.Weighted(range(23))},
    "repeated": {"sampling": ps.RepeatedAugmentation(3, selected_round=0), "world_size": 2},
    "buckets": {"sampling": BUCKETS, "transform": T.ResizeToBucket(BUCKETS.buckets)},
    "buckets of ranks": {
        "sampling": BUCKETS,
        "transform": T.ResizeToBucket(BUCKETS.buckets),
        "rank": 1,
        "world_size": 2,
    },
    "reuse": {"reuse": ps.Reuse(3), "transform": CROPS},
    "reuse on ranks": {"reuse": ps.Reuse(2), "transform": CROPS, "rank": 1, "world_size": 2},
    "echo": {"reuse": ps.Echo(3, window=3), "transform": CROPS, "batch_size": 7},
    "echo by pillow": {"reuse": ps.Echo(2), "transform": CROPS, "backend": "pillow"},
    "mixing": {"batch_transform": CHOICE},
    "timm's mixing": {
        "batch_transform": T.MixUp.timm(1.0, 1.0, mode="elem", prob=0.5, num_classes=3)
    },
    "views": {"transform": VIEWS},
    "views by pillow": {"transform": VIEWS, "backend": "pillow"},
    "functions": {"transform": IN_PYTHON},
    "functions by pillow": {"transform": IN_PYTHON, "backend": "pillow"},
    "functions, reused": {"transform": IN_PYTHON, "reuse": ps.Reuse(2, after=2)},
    "numpy": {"backend": "numpy"},
    "as written": {"plan": False},
    "fast": {"fidelity": "fast"},
    "large batches": {"batch_size": 100, "samples_per_epoch": 200, "transform": T.RandomCrop(9)},
    "dictionaries": {"as_dict": {"image": "pixel_values"}, "columns": ["name"]},
    "bfloat16": {"dtype": "bfloat16", "output": "torch"},
    "channels last": {"layout": "hwc", "dtype": "float16"},
}


def make(data, **options):
    usual = {"transform": ENDED, "batch_size": 4, "shuffle": True, "seed": SEED}
    asked = {**usual, "output": "numpy", "threads": 2, **options}
    if "world_size" in asked:
        asked.setdefault("rank", 0)
    return ps.Loader(data, **asked)


def write_boxed(folder):
    """Pack a data set with boxes and labels, which crops look at; returns the file."""
    rng = np.random.default_rng(3)
    items = []
    for number in range(9):
        path = folder / f"{number}.png"
        make_image(rng, 60, 80).save(path)
        values = {"boxes": [[10, 5, 50, 45], [0, 0, 80, 60]], "box_labels": [1, number % 3]}
        items.append(PackItem(path.name, path, values))
    source = ListSource(items, (BOXES, BOX_LABELS), box_classes=("cat", "dog", "bird"))
    ps.pack(source, folder / "a.pen")
    return folder / "a.pen"


def same(one, other):
    """Whether two batches have the same parts, of the same types and bits."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "view") and type(one).__module__ == "torch":
        return one.dtype == other.dtype and same(one.float().numpy(), other.float().numpy())
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


def assert_again(asked, run, epochs=2):
    """What one loader is asked for is what the other delivers, step by step, last epoch first."""
    delivered = [list(run) for _ in range(epochs)]
    for epoch in reversed(range(epochs)):
        for step, batch in enumerate(delivered[epoch]):
            past = asked.batch_at(epoch, step)
            assert same(past.batch, batch), (epoch, step)
            assert len(past.drawn) == len(past.names) == len(past)
    json.dumps(past.to_dict())
    return delivered
