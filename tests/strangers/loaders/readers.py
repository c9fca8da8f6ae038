"""Other ways to read a picture: torchvision.io, imageio."""

import os
from glob import glob

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, read_image
from torchvision.transforms import v2


class TensorDataset(Dataset):
    def __init__(self, img_dir, transform=None, target_transform=None):
        self.img_paths = sorted(glob(os.path.join(img_dir, "*", "*.jpg")))
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self):
        return len(self.img_paths)

    def __getitem__(self, idx):
        img_path = self.img_paths[idx]
        image = read_image(img_path, mode=ImageReadMode.RGB)
        label = int(img_path.split(os.sep)[-2].replace("class_", ""))
        if self.transform:
            image = self.transform(image)
        if self.target_transform:
            label = self.target_transform(label)
        return image, label


def read_image_v2(args):
    transforms = v2.Compose(
        [
            v2.RandomResizedCrop(size=(args.img_size, args.img_size), antialias=True),
            v2.RandomHorizontalFlip(p=0.5),
            v2.ColorJitter(0.2, 0.2, 0.2),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
        ]
    )
    return DataLoader(
        TensorDataset(os.path.join(args.data, "photos"), transforms, torch.tensor),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class ImageioDataset(Dataset):
    """Cutouts with alpha and palettes: RGB over white, then a random crop"""

    def __init__(self, root, size):
        self.files = sorted(glob(root + "/cutouts/*.png"))
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        import imageio.v2 as imageio

        im = imageio.imread(self.files[i])
        if im.ndim == 2:
            im = np.stack([im] * 3, axis=-1)
        if im.shape[-1] == 4:
            alpha = im[..., 3:].astype(np.float32) / 255
            im = (im[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
        short = [(0, max(0, self.size - side)) for side in im.shape[:2]]
        im = np.pad(im, [*short, (0, 0)], mode="edge")
        y = np.random.randint(0, im.shape[0] - self.size + 1)
        x = np.random.randint(0, im.shape[1] - self.size + 1)
        im = im[y : y + self.size, x : x + self.size]
        return torch.from_numpy(im.transpose(2, 0, 1).copy()).float().div(255)


def imageio_reader(args):
    return DataLoader(
        ImageioDataset(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
