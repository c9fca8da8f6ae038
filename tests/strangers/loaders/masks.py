"""Segmentation, scans of 16 bits, holes to be filled."""

import glob
import os
import random

import numpy as np
import torch
import torchvision.transforms.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.transforms import InterpolationMode


class JointTransform:
    """The same flips, scale and crop for the image and its mask"""

    def __init__(self, size):
        self.size = size

    def __call__(self, image, mask):
        scale = random.uniform(0.75, 1.5)
        h, w = int(image.height * scale), int(image.width * scale)
        image = F.resize(image, [h, w])
        mask = F.resize(mask, [h, w], interpolation=InterpolationMode.NEAREST)
        pad_h, pad_w = max(self.size - h, 0), max(self.size - w, 0)
        if pad_h > 0 or pad_w > 0:
            image = F.pad(image, [0, 0, pad_w, pad_h])
            mask = F.pad(mask, [0, 0, pad_w, pad_h], fill=255)
        i, j, th, tw = transforms.RandomCrop.get_params(image, (self.size, self.size))
        image, mask = F.crop(image, i, j, th, tw), F.crop(mask, i, j, th, tw)
        if random.random() > 0.5:
            image = F.hflip(image)
            mask = F.hflip(mask)
        if random.random() > 0.5:
            image = F.vflip(image)
            mask = F.vflip(mask)
        image = F.normalize(F.to_tensor(image), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
        mask = torch.as_tensor(np.array(mask), dtype=torch.int64)
        return image, mask


class SegmentationDataset(Dataset):
    def __init__(self, root, transforms):
        self.imgs = sorted(glob.glob(os.path.join(root, "photos/*/*.jpg")))
        self.root = root
        self.transforms = transforms

    def __getitem__(self, index):
        path = self.imgs[index]
        stem = os.path.splitext(os.path.basename(path))[0]
        img = Image.open(path).convert("RGB")
        target = Image.open(os.path.join(self.root, "masks", stem + ".png"))
        return self.transforms(img, target)

    def __len__(self):
        return len(self.imgs)


def joint_flips_by_random(args):
    ds = SegmentationDataset(args.data, JointTransform(args.img_size))
    return DataLoader(
        ds,
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        drop_last=True,
    )


class ScanDataset(Dataset):
    """16-bit scans: window, random quarter turns, one channel"""

    def __init__(self, folder, size, window=(0.0, 0.9)):
        self.files = sorted(os.listdir(folder))
        self.folder = folder
        self.size = size
        self.window = window

    def __len__(self):
        return len(self.files)

    def __getitem__(self, idx):
        scan = Image.open(os.path.join(self.folder, self.files[idx]))
        arr = np.array(scan).astype(np.float32) / 65535.0
        lo, hi = self.window
        arr = np.clip((arr - lo) / (hi - lo), 0, 1)
        s = min(arr.shape)
        y = np.random.randint(arr.shape[0] - s + 1)
        x = np.random.randint(arr.shape[1] - s + 1)
        arr = np.rot90(arr[y : y + s, x : x + s], k=np.random.randint(4)).copy()
        t = torch.from_numpy(arr)[None, None]
        t = torch.nn.functional.interpolate(
            t, size=(self.size, self.size), mode="bilinear", align_corners=False
        )
        return {"scan": t[0], "mean": float(arr.mean()), "id": self.files[idx]}


def medical_16_bit(args):
    return DataLoader(
        ScanDataset(os.path.join(args.data, "scans"), args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


def random_hole_mask(size, max_holes=3):
    mask = np.ones((size, size), np.float32)
    for _ in range(np.random.randint(1, max_holes + 1)):
        h = np.random.randint(size // 8, size // 3)
        w = np.random.randint(size // 8, size // 3)
        top, left = np.random.randint(0, size - h), np.random.randint(0, size - w)
        mask[top : top + h, left : left + w] = 0
    return mask


class InpaintingDataset(Dataset):
    def __init__(self, args):
        self.paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*")))
        self.size = args.img_size
        self.to_tensor = transforms.ToTensor()
        self.crop = transforms.RandomCrop(args.img_size, pad_if_needed=True)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        image = self.to_tensor(self.crop(Image.open(self.paths[i]).convert("RGB"))) * 2 - 1
        mask = torch.from_numpy(random_hole_mask(self.size)).unsqueeze(0)
        return image * mask, mask, image


def inpainting(args):
    return DataLoader(
        InpaintingDataset(args),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
