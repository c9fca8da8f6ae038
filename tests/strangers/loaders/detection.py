"""Boxes: scaled by hand, and by torchvision's v2."""

import json
import os
import random
from collections import defaultdict

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.transforms import functional as F
from torchvision.transforms import v2


class CocoLike(Dataset):
    def __init__(self, root, size):
        ann = json.load(open(os.path.join(root, "instances.json")))
        self.root = root
        self.size = size
        self.images = ann["images"]
        self.anns = defaultdict(list)
        for a in ann["annotations"]:
            self.anns[a["image_id"]].append(a)

    def __len__(self):
        return len(self.images)


class YoloStyle(CocoLike):
    """Letterbox, flip; boxes as class, centre and size between 0 and 1"""

    def __getitem__(self, idx):
        info = self.images[idx]
        img = Image.open(os.path.join(self.root, info["file_name"])).convert("RGB")
        w, h = img.size
        r = self.size / max(w, h)
        nw, nh = max(1, round(w * r)), max(1, round(h * r))
        canvas = Image.new("RGB", (self.size, self.size), (114, 114, 114))
        dx, dy = (self.size - nw) // 2, (self.size - nh) // 2
        canvas.paste(img.resize((nw, nh), Image.BILINEAR), (dx, dy))

        labels = []
        for a in self.anns[info["id"]]:
            x, y, bw, bh = a["bbox"]
            cx, cy = (x + bw / 2) * r + dx, (y + bh / 2) * r + dy
            labels.append(
                [
                    a["category_id"],
                    cx / self.size,
                    cy / self.size,
                    bw * r / self.size,
                    bh * r / self.size,
                ]
            )
        labels = np.array(labels, dtype=np.float32).reshape(-1, 5)
        if random.random() < 0.5:
            canvas = canvas.transpose(Image.FLIP_LEFT_RIGHT)
            labels[:, 1] = 1 - labels[:, 1]
        out = torch.zeros((len(labels), 6))
        out[:, 1:] = torch.from_numpy(labels)
        return F.pil_to_tensor(canvas), out, info["file_name"], ((h, w), (r, (dx, dy)))

    @staticmethod
    def collate_fn(batch):
        im, label, path, shapes = zip(*batch)
        for i, lb in enumerate(label):
            lb[:, 0] = i
        return torch.stack(im, 0), torch.cat(label, 0), path, shapes


def detection_by_hand(args):
    return DataLoader(
        YoloStyle(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=YoloStyle.collate_fn,
    )


class V2Detection(CocoLike):
    def __init__(self, root, size):
        super().__init__(root, size)
        self.transforms = v2.Compose(
            [
                v2.ToImage(),
                v2.RandomPhotometricDistort(p=0.5),
                v2.RandomZoomOut(fill={tv_tensors.Image: (123, 117, 104), "others": 0}),
                v2.RandomIoUCrop(),
                v2.RandomHorizontalFlip(p=0.5),
                v2.Resize((size, size), antialias=True),
                v2.SanitizeBoundingBoxes(),
                v2.ToDtype(torch.float32, scale=True),
            ]
        )

    def __getitem__(self, idx):
        info = self.images[idx]
        img = Image.open(os.path.join(self.root, info["file_name"])).convert("RGB")
        anns = self.anns[info["id"]]
        boxes = tv_tensors.BoundingBoxes(
            [a["bbox"] for a in anns], format="XYWH", canvas_size=(img.height, img.width)
        )
        target = {
            "boxes": v2.functional.convert_bounding_box_format(boxes, new_format="XYXY"),
            "labels": torch.tensor([a["category_id"] for a in anns]),
            "image_id": info["id"],
        }
        return self.transforms(img, target)


def collate_fn(batch):
    return tuple(zip(*batch))


def detection_tv_tensors(args):
    return DataLoader(
        V2Detection(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=collate_fn,
    )
