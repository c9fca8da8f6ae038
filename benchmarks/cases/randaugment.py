"""What each layer of RandAugment costs: the pipeline of a classifier with none to five of them."""

from __future__ import annotations

from benchmarks.cases import classify_224
from benchmarks.cases.kind import CaseKind

KIND = CaseKind(
    name="randaugment",
    title="RandAugment",
    make=classify_224.vary(
        "randaugment",
        "Images per second with N layers of RandAugment of magnitude 9: decode, "
        "RandomResizedCrop(224), RandomHorizontalFlip, RandAugment(N, 9), Normalize, "
        "to float32 CHW in batches of 64",
    ),
    photos="in1k",
    images=1_024,
    peers=(
        "penstock_packed",
        "penstock_folder",
        "torchvision_pillow",
        "torchvision_io",
        "dali",
    ),
    layers=(0, 1, 2, 3, 4, 5),
    quick_layers=(0, 2),
    cores=(1,),
    # Thirty processes take turns, so each turn has to be short.
    rounds=4,
    seconds=1.0,
    compares_pixels=False,
)
