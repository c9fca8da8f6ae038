"""The same from photos as cameras make them, of which a crop to 224 pixels throws most away."""

from __future__ import annotations

from benchmarks.cases import classify_224
from benchmarks.cases.kind import CaseKind

KIND = CaseKind(
    name="large_photos",
    title="Large photos",
    make=classify_224.vary(
        "large_photos",
        "Images per second from photos of 3 to 18 megapixels: decode, RandomResizedCrop(224), "
        "RandomHorizontalFlip, Normalize, to float32 CHW in batches of 8",
        batch_size=8,
    ),
    photos="large",
    images=24,
    rounds=3,
    peers=(
        *("penstock_packed", "penstock_packed_fast", "penstock_packed_small"),
        *("penstock_folder", "penstock_folder_fast"),
        *("torchvision_pillow", "torchvision_pillow_simd", "torchvision_io", "opencv", "dali"),
        *("tf_data", "ffcv_raw_500"),
    ),
)
