"""A random pipeline over one of the data sets, as plain data that a child process can be told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from soak.data_sets import CLASSES, DataSet

Step = tuple[str, list[Any], dict[str, Any]]  # the name of a transform, and its arguments

MODES = ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos")
MOST_THREADS = 6


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What a Loader is made from, but for `threads`."""

    data: str
    form: str
    transform: list[Step]
    batch_transform: Step | None = None
    options: dict[str, Any] = field(default_factory=dict)
    threads: int = 2
    prefetch: int = 2
    epoch: int = 0
    epochs: int = 1

    def describe(self) -> str:
        """Return one line for people."""
        steps = ", ".join(name for name, _, _ in self.transform) or "no transform"
        mixing = f" + {self.batch_transform[0]}" if self.batch_transform else ""
        return f"{self.data} ({self.form}), {steps}{mixing}, {self.options}, {self.threads} threads"


def step(name: str, *args: Any, **options: Any) -> Step:
    """Return one transform."""
    return name, list(args), options


def random_pipeline(
    rng: random.Random,
    data_sets: dict[str, DataSet],
    *,
    data: Sequence[str] = ("photos", "photos", "photos", "damaged", "coco", "maps", "columns"),
    forms: Sequence[str] = ("folder", "packed", "shards"),
    torch: bool = True,
) -> Pipeline:
    """Draw a pipeline over one of the data sets named, in one of the forms named."""
    chosen = data_sets[rng.choice(data)]
    form = rng.choice([form for form in forms if form in chosen.forms])
    batch_size = rng.randint(1, 17)
    options: dict[str, Any] = {
        "batch_size": batch_size,
        "shuffle": rng.random() < 0.7,
        "seed": rng.getrandbits(rng.choice([3, 32, 64])),
        "drop_last": rng.random() < 0.2,
        "layout": rng.choice(["chw", "hwc"]),
        "fidelity": rng.choice(["exact", "exact", "fast"]),
        "output": "torch" if torch and rng.random() < 0.05 else "numpy",
    }
    mixing: Step | None = None
    if chosen.name == "coco":
        transform = _detection(rng, options)
    elif chosen.name == "maps":
        transform = _segmentation(rng)
    else:
        transform = _classification(rng)
        if rng.random() < 0.15:
            mixing = _mixing(rng)
            options.update(batch_size=2 * batch_size, drop_last=True)
    transform += _final(rng, options)
    if mixing is not None and not any(name == "Normalize" for name, _, _ in transform):
        transform.append(_normalize())
    if chosen.name == "columns":
        _ask_for_columns(rng, options)
    if chosen.name == "damaged":
        options["on_error"] = rng.choice(["raise", "skip", "substitute"])
        mixing = None
    _choose_samples(rng, options, chosen.samples)
    if rng.random() < 0.15:
        options["as_dict"] = True
    return Pipeline(
        data=chosen.name,
        form=form,
        transform=transform,
        batch_transform=mixing,
        options=options,
        threads=rng.randint(2, MOST_THREADS),
        prefetch=rng.randint(0, 4),
        epoch=rng.choice([0, 0, 1, 77]),
        epochs=rng.choice([1, 1, 2]),
    )


def _classification(rng: random.Random) -> list[Step]:
    side = rng.choice([8, 24, 32, 48])
    sized = [
        [step("RandomResizedCrop", side, interpolation=rng.choice(MODES))],
        [step("Resize", side + 8, interpolation=rng.choice(MODES)), step("CenterCrop", side)],
        [step("Resize", [side, side + 3], interpolation=rng.choice(MODES))],
        [step("RandomCrop", side, padding=4, pad_if_needed=True)],
    ]
    before = _some_of(rng, [*_moves(), *_colours(rng)], 2)
    after = _some_of(rng, [*_moves(), *_colours(rng), *_policies(rng), *_erasing()], 3)
    return [*before, *rng.choice(sized), *after]


def _detection(rng: random.Random, options: dict[str, Any]) -> list[Step]:
    options["targets"] = rng.choice(["list", "list", "padded", None])
    options["masks"] = rng.choice([True, None])
    options["background"] = rng.random() < 0.7
    if rng.random() < 0.3:
        options["columns"] = rng.sample(["iscrowd", "name", "image_id"], rng.randint(1, 2))
    moves = [
        step("RandomIoUCrop"),
        step("RandomZoomOut", side_range=[1.0, 1.5]),
        step("RandomPhotometricDistort"),
        step("RandomHorizontalFlip"),
        step("RandomVerticalFlip"),
        step("Pad", 5),
    ]
    side = rng.choice([40, 64])
    sized = [
        [step("Resize", [side, side])],
        [step("RandomShortestSize", [40, 56], max_size=90)],
        [step("ScaleJitter", [side, side], scale_range=[0.5, 1.5])],
        [step("FixedSizeCrop", [side, side])],
    ]
    chosen = sized[0] if options["targets"] == "padded" else rng.choice(sized)
    tidy = rng.choice([[], [step("SanitizeBoundingBoxes")], [step("ClampBoundingBoxes")]])
    return [*_some_of(rng, moves, 3), *chosen, *tidy]


def _segmentation(rng: random.Random) -> list[Step]:
    side = rng.choice([16, 33, 48])
    sized = [
        step("RandomResizedCrop", side),
        step("Resize", [side, side]),
        step("RandomCrop", side, pad_if_needed=True),
    ]
    return [*_some_of(rng, _moves(), 2), rng.choice(sized), *_some_of(rng, _colours(rng), 2)]


def _moves() -> list[Step]:
    return [
        step("RandomHorizontalFlip"),
        step("RandomVerticalFlip", p=0.7),
        step("RandomRotation", 40, interpolation="bilinear"),
        step("RandomAffine", 15, translate=[0.1, 0.1], scale=[0.8, 1.2], shear=8),
        step("RandomPerspective", p=0.7),
        step("Pad", 3, padding_mode="reflect"),
        step("ElasticTransform", alpha=20.0),
    ]


def _colours(rng: random.Random) -> list[Step]:
    return [
        step("ColorJitter", 0.4, 0.4, 0.4, 0.2),
        step("RandomGrayscale", p=0.5),
        step("RandomSolarize", rng.randint(0, 255)),
        step("RandomPosterize", rng.randint(1, 8)),
        step("RandomEqualize"),
        step("RandomAutocontrast"),
        step("RandomInvert"),
        step("RandomAdjustSharpness", 2.0),
        step("GaussianBlur", rng.choice([3, 5])),
    ]


def _policies(rng: random.Random) -> list[Step]:
    return [
        step("RandAugment", rng.randint(1, 3), rng.randint(0, 15)),
        step("TrivialAugmentWide"),
        step("AutoAugment"),
        step("AugMix"),
    ]


def _erasing() -> list[Step]:
    return [step("RandomErasing", p=0.8)]


def _mixing(rng: random.Random) -> Step:
    name = rng.choice(["MixUp", "CutMix"])
    return step(name, alpha=rng.choice([0.2, 1.0]), num_classes=len(CLASSES))


def _normalize() -> Step:
    return step("Normalize", [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def _final(rng: random.Random, options: dict[str, Any]) -> list[Step]:
    sort = rng.choice(["uint8", "scaled", "normalized", "half"])
    if sort == "uint8":
        return []
    if sort == "half":
        options["dtype"] = "bfloat16" if options["output"] == "torch" else "float16"
        return [_normalize()]
    return [step("ToDtype", "float32", scale=True)] if sort == "scaled" else [_normalize()]


def _ask_for_columns(rng: random.Random, options: dict[str, Any]) -> None:
    names = ["label", "score", "points", "caption", "blob", "name"]
    options["columns"] = ["label", *rng.sample(names[1:], rng.randint(0, 4))]


def _choose_samples(rng: random.Random, options: dict[str, Any], samples: int) -> None:
    """Leave all samples in, or choose some of them, by position or by weight."""
    taking = samples
    if rng.random() < 0.2:
        taking = rng.randint(4, samples)
        options["indices"] = [rng.randrange(samples) for _ in range(taking)]
    if rng.random() < 0.15:
        options["weights"] = [rng.choice([0.5, 1.0, 3.0]) for _ in range(taking)]
        options["shuffle"] = False
        options["replacement"] = "indices" in options or rng.random() < 0.5
    if rng.random() < 0.15:
        options["samples_per_epoch"] = rng.randint(4, taking)


def _some_of(rng: random.Random, steps: list[Step], most: int) -> list[Step]:
    return rng.sample(steps, rng.randint(0, most))
