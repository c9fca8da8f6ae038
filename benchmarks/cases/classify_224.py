"""What training an ImageNet classifier asks of its input pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.case import CENTRE, UINT8, Case
from benchmarks.cases.kind import CaseKind

STEPS = "decode, RandomResizedCrop(224), RandomHorizontalFlip"
ALL_PEERS = (
    *("penstock_packed", "penstock_folder"),
    *("torchvision_pillow", "torchvision_pillow_simd", "torchvision_io", "torchcodec"),
    *("opencv", "simplejpeg", "albumentations", "spdl", "dali", "tf_data"),
    *("grain", "webdataset", "streaming", "litdata"),
    *("ffcv_jpg_500", "ffcv_raw_500", "ffcv_raw_400"),
)


def make_case(paths: tuple[str, ...]) -> Case:
    """Return the case for these files; labels are made up, since nobody looks at them."""
    return Case(
        name=KIND.name,
        question=f"Images per second: {STEPS}, Normalize, to float32 CHW in batches of 64",
        paths=paths,
        labels=tuple(index % 1_000 for index in range(len(paths))),
        crop_px=224,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        batch_size=64,
    )


def vary(name: str, question: str, **changes: Any) -> Callable[[tuple[str, ...]], Case]:
    """Return what makes this case with another name and question, and with `changes`."""
    return lambda paths: replace(make_case(paths), name=name, question=question, **changes)


KIND = CaseKind(
    name="classify_224",
    title="Training a classifier, float32",
    make=make_case,
    photos="in1k",
    images=1_024,
    peers=(
        *("penstock_packed", "penstock_packed_avx2", "penstock_packed_small"),
        *("penstock_folder", "penstock_folder_anew"),
        *ALL_PEERS[2:],
    ),
)
UINT8_KIND = replace(
    KIND,
    name="classify_224_uint8",
    title="Training a classifier, uint8",
    make=vary(
        "classify_224_uint8",
        f"Images per second: {STEPS}, to uint8 CHW in batches of 64, to be normalised elsewhere",
        output=UINT8,
    ),
    peers=ALL_PEERS,
    rounds=3,
)
VALIDATE_KIND = replace(
    KIND,
    name="validate_224",
    title="Validation",
    make=vary(
        "validate_224",
        "Images per second: decode, Resize(256), CenterCrop(224), Normalize, "
        "to float32 CHW in batches of 64",
        crop=CENTRE,
    ),
    peers=ALL_PEERS,
    cores=(1,),
    rounds=3,
)
COLD_KIND = replace(
    KIND,
    name="cold_224",
    title="Cold files",
    make=vary(
        "cold_224",
        f"Images per second from files that are not in memory: {STEPS}, Normalize, "
        "to float32 CHW in batches of 64",
        cold=True,
    ),
    turn="reads whole epochs, each from files that were dropped from memory,",
    images=256,
    repeats=1,
    # Without DALI, which has read so many files ahead when a pass begins.
    peers=(
        *("penstock_packed", "penstock_folder", "torchvision_pillow"),
        *("webdataset", "streaming", "litdata", "ffcv_raw_500"),
    ),
    cores=(1,),
    rounds=3,
    compares_pixels=False,
)
