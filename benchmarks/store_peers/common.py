"""What the peers share: the same transform, the same clock. Imports no penstock.

A peer's process is told what to do by one JSON text, and prints one line of JSON for each epoch.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

LOOK_S = 1.0
_KEPT: list[Any] = []
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def settings() -> dict[str, Any]:
    """Return what this process was told."""
    told: dict[str, Any] = json.loads(sys.argv[1])
    return told


def import_torchvision() -> Any:
    """Return torchvision's transforms; its wheel is built for CUDA, and expects its operators."""
    import torch

    if _KEPT:
        return importlib.import_module("torchvision.transforms")
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _KEPT.append(library)
    return importlib.import_module("torchvision.transforms")


def make_transform() -> Callable[[bytes], Any]:
    """Return torchvision's transforms on Pillow images, from the bytes of a JPEG file."""
    from PIL import Image

    transforms = import_torchvision()
    steps = transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )

    def transform(content: bytes) -> Any:
        return steps(Image.open(io.BytesIO(content)).convert("RGB"))

    return transform


def main(
    library: str,
    write: Callable[[dict[str, Any]], None],
    load: Callable[[dict[str, Any]], Iterable[Any]],
) -> None:
    """Write a peer's files, or load them, as this process was told."""
    told = settings()
    if told["do"] == "write":
        write(told)
        return
    import_torchvision()
    importlib.import_module(library)  # so that the clock does not count it
    run(lambda: load(told), told)


def run(make_loader: Callable[[], Iterable[Any]], told: dict[str, Any]) -> None:
    """Load some epochs; the first one begins when the loader is made."""
    begin = time.perf_counter()
    loader = make_loader()
    for epoch in range(told["epochs"]):
        if epoch:
            begin = time.perf_counter()
        first, images, memory, look = 0.0, 0, 0.0, 0.0
        for batch in loader:
            tensor = batch[0] if isinstance(batch, (list, tuple)) else batch
            if tuple(tensor.shape[1:]) != (3, 224, 224) or str(tensor.dtype) != "torch.float32":
                raise TypeError(f"a batch of {tensor.dtype} {tuple(tensor.shape)}")
            first = first or time.perf_counter() - begin
            images += len(tensor)
            if time.perf_counter() > look:  # seldom, for it takes some milliseconds
                memory, look = max(memory, tree_mb()), time.perf_counter() + LOOK_S
        answer = {
            "epoch": epoch,
            "images": images,
            "seconds": time.perf_counter() - begin,
            "first_batch_s": first,
            "memory_mb": memory,
        }
        print(json.dumps(answer), flush=True)
        sys.stdin.readline()  # whoever counts requests has counted them


def tree_mb() -> float:
    """Return the memory of this process and of those it started; what they share counts once."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    total, waiting = 0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1e3
