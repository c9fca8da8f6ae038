"""Pairs of a picture and a worse one: super-resolution, colourisation."""

import os
import random

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png")


def make_dataset(folder):
    images = []
    for root, _, fnames in sorted(os.walk(folder)):
        for fname in sorted(fnames):
            if fname.lower().endswith(IMG_EXTENSIONS):
                images.append(os.path.join(root, fname))
    return images


class SRDataset(Dataset):
    def __init__(self, root, patch, scale):
        self.paths = make_dataset(os.path.join(root, "photos"))
        self.patch = patch // scale * scale
        self.scale = scale

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        hr = Image.open(self.paths[index]).convert("RGB")
        if min(hr.size) < self.patch:
            r = self.patch / min(hr.size)
            hr = hr.resize((int(hr.width * r) + 1, int(hr.height * r) + 1), Image.BICUBIC)
        x = random.randint(0, hr.width - self.patch)
        y = random.randint(0, hr.height - self.patch)
        hr = hr.crop((x, y, x + self.patch, y + self.patch))
        rotation = random.choice([None, Image.ROTATE_90, Image.ROTATE_180, Image.ROTATE_270])
        if rotation is not None:
            hr = hr.transpose(rotation)
        side = self.patch // self.scale
        lr = hr.resize((side, side), Image.BICUBIC)

        def tensor(im):
            return torch.from_numpy(np.array(im)).permute(2, 0, 1).float() / 255.0

        return tensor(lr), tensor(hr)


def seed_worker(worker_id):
    worker_seed = torch.initial_seed() % 2**32
    np.random.seed(worker_seed)
    random.seed(worker_seed)


def super_resolution(args):
    g = torch.Generator()
    g.manual_seed(args.seed)
    return DataLoader(
        SRDataset(args.data, args.img_size, scale=4),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        worker_init_fn=seed_worker,
        generator=g,
    )


class ColorizationDataset(Dataset):
    """Lightness in, the two colours out"""

    def __init__(self, paths, size, space="LAB"):
        self.paths = paths
        self.size = size
        self.space = space

    def __getitem__(self, idx):
        img = Image.open(self.paths[idx]).convert("RGB")
        img = img.resize((self.size, self.size), Image.BICUBIC)
        if torch.rand(()) < 0.5:
            img = img.transpose(Image.FLIP_LEFT_RIGHT)
        if self.space == "LAB":
            from PIL import ImageCms

            srgb, lab = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
            img = ImageCms.profileToProfile(img, srgb, lab, outputMode="LAB")
        else:
            img = img.convert("YCbCr")
        arr = np.array(img).astype("float32")
        L = torch.tensor(arr[..., 0] / 127.5 - 1.0).unsqueeze(0)
        ab = torch.tensor(arr[..., 1:] / 127.5 - 1.0).permute(2, 0, 1)
        return {"L": L, "ab": ab}

    def __len__(self):
        return len(self.paths)


def colourisation(args):
    paths = make_dataset(os.path.join(args.data, "photos"))
    return DataLoader(
        ColorizationDataset(paths, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
