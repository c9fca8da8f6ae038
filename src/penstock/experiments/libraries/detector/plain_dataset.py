"""The Dataset that one writes by hand for a detector: read, mirror, jitter, resize, to tensors."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import torch
from PIL import Image, ImageEnhance

from penstock.experiments.libraries.detector.voc import SPLIT

SIDE_PX = 300
JITTER = 0.4  # factors of brightness and contrast: 1 - JITTER .. 1 + JITTER


class PlainVocDataset:
    """Photos and boxes of a VOC folder; one line for each thing that is done."""

    def __init__(self, folder: Path, classes: Sequence[str]) -> None:
        self.folder = folder
        self.numbers = {name: number for number, name in enumerate(classes)}
        listed = folder / "ImageSets" / "Main" / f"{SPLIT}.txt"
        self.names = listed.read_text(encoding="ascii").split()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> tuple[Any, dict[str, Any]]:
        name = self.names[index]
        root = ET.parse(self.folder / "Annotations" / f"{name}.xml").getroot()  # noqa: S314 (the user's own files)
        boxes = torch.tensor([self.box(each) for each in root.iter("object")])
        kinds = [each.findtext("name", "") for each in root.iter("object")]
        labels = torch.tensor([self.numbers[kind] for kind in kinds])
        image = Image.open(self.folder / "JPEGImages" / f"{name}.jpg").convert("RGB")
        width, height = image.size
        if random.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            boxes[:, [0, 2]] = width - boxes[:, [2, 0]]
        image = ImageEnhance.Brightness(image).enhance(random.uniform(1 - JITTER, 1 + JITTER))
        image = ImageEnhance.Contrast(image).enhance(random.uniform(1 - JITTER, 1 + JITTER))
        image = image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BILINEAR)
        boxes *= torch.tensor([SIDE_PX / width, SIDE_PX / height] * 2)
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        pixels = pixels.reshape(SIDE_PX, SIDE_PX, 3).permute(2, 0, 1)
        return pixels.float().div(255), {"boxes": boxes, "labels": labels}

    def box(self, described: ET.Element) -> list[float]:
        """Return left, top, right and bottom."""
        return [
            float(described.findtext(f"bndbox/{side}", ""))
            for side in ("xmin", "ymin", "xmax", "ymax")
        ]
