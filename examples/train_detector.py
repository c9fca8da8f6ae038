r"""Train a detector of torchvision's, on one process or on many; stop it after any batch and go on.

    python examples/train_detector.py
    python examples/train_detector.py --resume                        # after Ctrl-C
    torchrun --nproc-per-node 2 examples/train_detector.py
    torchrun ... --train coco/annotations/instances_train2017.json --test val2017.pen \
        --model ssdlite320_mobilenet_v3_large --epochs 300 --batch-size 24

Without --train it draws scenes of shapes, and learns to find them in a minute on a CPU.
Boxes follow their images through all transforms. A resumed run has the uninterrupted one's losses.
The loop, mixed precision and checkpoints are in parts/training.py.
"""

from __future__ import annotations

import argparse
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
import torchvision
from parts.training import Process, Training, add_arguments, join_processes
from torch import nn
from torchvision.models import get_model
from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from torchvision.models.detection.ssd import SSD
from torchvision.ops import box_iou

import penstock as ps
from penstock import transforms as T

SMALL_SIDE_PX = 96
RIGHT_FROM_IOU = 0.5


class SmallBackbone(nn.Module):
    """Two maps of features, at a sixteenth and a thirty-second of the image's side."""

    def __init__(self) -> None:
        super().__init__()
        pool = nn.MaxPool2d(2)
        self.first = nn.Sequential(
            *(convolution(3, 16), pool, convolution(16, 32), pool, convolution(32, 64), pool),
            *(convolution(64, 64), convolution(64, 96), pool),
            *(convolution(96, 96), convolution(96, 96)),
        )
        self.second = nn.Sequential(convolution(96, 96), pool, convolution(96, 96))

    def forward(self, images: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the maps by name."""
        fine = self.first(images)
        return OrderedDict(fine=fine, coarse=self.second(fine))


def convolution(inputs: int, outputs: int) -> nn.Module:
    """Return a convolution with what follows it."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


def make_model(name: str, classes: int) -> tuple[nn.Module, tuple[int, int]]:
    """Return SSD on a small backbone, or one of torchvision's detectors, and its image size."""
    if name != "small":
        model = get_model(name, weights=None, weights_backbone=None, num_classes=classes)
        side = model.transform.min_size[-1]
        return model, tuple(model.transform.fixed_size or (side, side))
    size = (SMALL_SIDE_PX, SMALL_SIDE_PX)
    boxes = DefaultBoxGenerator([[2], [2]], scales=[0.3, 0.45, 0.6])  # shares of the side
    return SSD(SmallBackbone(), boxes, size, classes), size


def steps_after(size: tuple[int, int], *augment: Any) -> T.Compose:
    """Return transforms that end as torchvision's detectors want it, which normalise themselves."""
    end = (T.Resize(size), T.SanitizeBoundingBoxes(), T.ToDtype("float32", scale=True))
    return T.Compose([*augment, *end])


def train(args: argparse.Namespace, process: Process) -> None:
    """Train, and say the average precision after every epoch."""
    names = ps.Loader(args.train).classes
    if names is None:
        raise SystemExit(f"{args.train}: it has no boxes with classes.")
    torch.manual_seed(args.seed)
    model, size = make_model(args.model, len(names))
    augment = (T.RandomPhotometricDistort(), T.RandomIoUCrop(), T.RandomHorizontalFlip())
    # The loader asks torch.distributed which share of every epoch is this process's.
    loader = ps.Loader(
        args.train,
        batch_size=args.batch_size,
        transform=steps_after(size, *augment),
        shuffle=True,
        drop_last=True,
        seed=args.seed,
    )
    testing = process.own_share(args.test, batch_size=16, transform=steps_after(size))

    def on_device(images: torch.Tensor) -> list[torch.Tensor]:
        return list(images.to(process.device, non_blocking=True))

    def loss_of(model: nn.Module, batch: tuple[torch.Tensor, list[Any]]) -> torch.Tensor:
        images, targets = batch
        wanted = [
            {name: target[name].to(process.device) for name in ("boxes", "labels")}
            for target in targets
        ]
        losses: dict[str, torch.Tensor] = model(on_device(images), wanted)
        return torch.stack(list(losses.values())).sum()

    def evaluate() -> str:
        pairs = []
        for images, targets in testing:
            found = model(on_device(images))
            pairs += [
                ({name: value.float().cpu() for name, value in one.items()}, target)
                for one, target in zip(found, targets, strict=True)
            ]
        return f"AP at IoU 0.5: {mean_average_precision(process.gather(pairs)):.3f}"

    Training(model, loader, process, args).run(loss_of, evaluate)


Pair = tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]  # what was found, what is there


def mean_average_precision(pairs: list[Pair]) -> float:
    """Return the average precision, averaged over the classes that are there."""
    classes = {int(label) for _, truth in pairs for label in truth["labels"]}
    return sum(average_precision(pairs, label) for label in classes) / max(len(classes), 1)


def average_precision(pairs: list[Pair], label: int) -> float:
    """Return the area under the curve of precision over recall for one class.

    Detections take turns, the surest first; each may claim a box that nobody has claimed.
    """
    verdicts: list[tuple[float, bool]] = []
    objects = 0
    for found, truth in pairs:
        wanted = truth["boxes"][truth["labels"] == label]
        objects += len(wanted)
        free = torch.ones(len(wanted))
        chosen = found["labels"] == label
        scores, order = found["scores"][chosen].sort(descending=True)
        for score, overlaps in zip(
            scores.tolist(), box_iou(found["boxes"][chosen][order], wanted), strict=True
        ):
            best = int((overlaps * free).argmax()) if len(wanted) else 0
            is_right = len(wanted) > 0 and float(overlaps[best] * free[best]) >= RIGHT_FROM_IOU
            if is_right:
                free[best] = 0
            verdicts.append((score, is_right))
    verdicts.sort(key=lambda verdict: verdict[0], reverse=True)
    hits = torch.tensor([is_right for _, is_right in verdicts], dtype=torch.float64).cumsum(0)
    recall, precision = hits / max(objects, 1), hits / torch.arange(1, len(hits) + 1)
    reached = precision.flip(0).cummax(0).values.flip(0) if len(hits) else precision
    steps = torch.diff(recall, prepend=torch.zeros(1, dtype=torch.float64))
    return float((steps * reached).sum())


def plain_nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Keep the surest boxes, and of those that overlap one of them none."""
    order = scores.argsort(descending=True)
    overlaps = box_iou(boxes[order], boxes[order]) > iou_threshold
    kept: list[int] = []
    is_free = torch.ones(len(order), dtype=torch.bool, device=boxes.device)
    for place in range(len(order)):
        if is_free[place]:
            kept.append(place)
            is_free &= ~overlaps[place]
    return order[kept]


def make_up_for_missing_nms() -> None:
    """Where torchvision's compiled part does not fit torch, do in Python what detectors need."""
    try:
        torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
    except (RuntimeError, NotImplementedError):
        torchvision.ops.boxes.nms = plain_nms


def main() -> None:
    """Read the arguments, draw the data if none was named, and train."""
    parser = argparse.ArgumentParser(description="Train a detector.")
    parser.add_argument("--train", type=Path, help="COCO, VOC or YOLO data, or a packed file")
    parser.add_argument("--test", type=Path, help="the same, to test with")
    add_arguments(
        parser, epochs=12, batch_size=8, lr=0.003, images=256, checkpoint=Path("detector.pt")
    )
    args = parser.parse_args()
    if (args.train is None) != (args.test is None):
        parser.error("--train and --test go together")
    make_up_for_missing_nms()
    with join_processes() as process:
        if args.train is None:
            scenes = Path(f"scenes-{args.images}")
            if process.is_first:
                ps.make_shape_scenes(scenes, train=args.images, test=args.images // 2)
            process.total(0)  # the others wait until the data is there
            lists = scenes / "annotations"
            args.train, args.test = lists / "instances_train.json", lists / "instances_test.json"
        train(args, process)


if __name__ == "__main__":
    main()
