"""Images/s of COCO with instance masks: a packed file against torchvision's CocoDetection.

    python -m benchmarks.coco_masks ../shared/data/detect/coco128/instances.json

Both sides run the same pipeline on the same images, boxes, labels and masks;
the DataLoader has a worker per core. The best round of each side counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import penstock as ps
from penstock import transforms as T
from penstock.usable_cores import usable_cores

BATCH = 16
PIPELINES = ("resize", "ssd")


def ours(packed: Path, pipeline: str, *, masks: bool) -> Iterable[Any]:
    """Return our loader."""
    flipped = T.Compose([T.Resize((320, 320)), T.RandomHorizontalFlip()])
    transform = flipped if pipeline == "resize" else T.ssd(size=(320, 320))
    return ps.Loader(
        packed, transform=transform, batch_size=BATCH, shuffle=True, masks=masks or None
    )


def theirs(json: Path, images: Path, pipeline: str, *, masks: bool) -> Iterable[Any]:
    """Return torchvision's data set in a DataLoader."""
    import torch
    from torchvision import datasets, tv_tensors
    from torchvision.transforms import v2

    start: list[Any] = [v2.ToImage()]
    if pipeline == "ssd":
        fill = {tv_tensors.Image: (123, 117, 104), "others": 0}
        start = [
            v2.RandomPhotometricDistort(),
            v2.RandomZoomOut(fill=fill),
            v2.RandomIoUCrop(),
        ]
    transform = v2.Compose(
        [
            *start,
            v2.Resize((320, 320)),
            v2.RandomHorizontalFlip(),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True) if pipeline == "ssd" else v2.Identity(),
            v2.SanitizeBoundingBoxes() if pipeline == "ssd" else v2.Identity(),
        ]
    )
    keys = {"boxes", "labels", "image_id"} | ({"masks"} if masks else set())
    with contextlib.redirect_stdout(io.StringIO()):
        coco = datasets.CocoDetection(str(images), str(json), transforms=transform)
    # torchvision's wrapper gives images without objects no boxes, which RandomIoUCrop refuses.
    coco.ids = [image for image in coco.ids if coco.coco.getAnnIds(image)]
    data = datasets.wrap_dataset_for_transforms_v2(coco, target_keys=keys)
    return torch.utils.data.DataLoader(
        data,
        batch_size=BATCH,
        shuffle=True,
        num_workers=usable_cores(),
        collate_fn=_pair,
        persistent_workers=True,
    )


def _pair(samples: list[Any]) -> tuple[Any, ...]:
    return tuple(zip(*samples, strict=True))


def rate(loader: Iterable[Any], seconds: float, rounds: int) -> float:
    """Return the best round's images/s; the first epoch warms up and does not count."""
    for _ in loader:
        pass
    best = 0.0
    for _ in range(rounds):
        began_s, images = time.monotonic(), 0
        while time.monotonic() - began_s < seconds:
            images += sum(len(batch) for batch, _ in loader)
        best = max(best, images / (time.monotonic() - began_s))
    return best


def main() -> None:
    """Print a line for each pipeline, with masks and if wanted without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("json", type=Path)
    parser.add_argument("--images", type=Path, help="where its images are (default: beside it)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pipelines", nargs="+", choices=PIPELINES, default=PIPELINES)
    parser.add_argument("--without", action="store_true", help="without masks, too")
    args = parser.parse_args()
    images = args.images or args.json.parent / "images"
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "coco.pen")
        ps.pack(args.json, packed, images=images, progress=False)
        print(f"{'pipeline':10} {'masks':6} {'penstock':>10} {'torchvision':>12} {'times':>6}")
        for pipeline in args.pipelines:
            for masks in (True, False) if args.without else (True,):
                mine = rate(ours(packed, pipeline, masks=masks), args.seconds, args.rounds)
                their_loader = theirs(args.json, images, pipeline, masks=masks)
                other = rate(their_loader, args.seconds, args.rounds)
                print(
                    f"{pipeline:10} {'yes' if masks else 'no':6} {mine:10,.0f} {other:12,.0f} "
                    f"{mine / other:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
