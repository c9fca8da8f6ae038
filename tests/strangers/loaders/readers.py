"""Other ways to read a picture: torchvision.io, imageio, arrays by hand."""

import os
from glob import glob

import numpy as np
import torch
from PIL import Image
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


class ImageioV3Dataset(Dataset):
    """iio.imread, a random crop and mirror, between minus one and one"""

    def __init__(self, root, size):
        self.files = sorted(glob(root + "/photos/*/*.jpg"))
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        import imageio.v3 as iio

        im = iio.imread(self.files[i], mode="RGB")
        h, w = im.shape[:2]
        s = min(h, w, self.size)
        y, x = np.random.randint(0, h - s + 1), np.random.randint(0, w - s + 1)
        im = im[y : y + s, x : x + s]
        if np.random.rand() < 0.5:
            im = im[:, ::-1]
        out = np.zeros((self.size, self.size, 3), dtype=np.float32)
        out[:s, :s] = im / 127.5 - 1.0
        return torch.from_numpy(out.transpose(2, 0, 1)), i


def imageio_v3(args):
    return DataLoader(
        ImageioV3Dataset(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class ArithmeticDataset(Dataset):
    """Pixels as an array, mean and deviation by hand, in NumPy's doubles until the end"""

    mean = np.array([0.485, 0.456, 0.406])
    std = np.array([0.229, 0.224, 0.225])

    def __init__(self, root, size):
        self.files = sorted(glob(root + "/photos/*/*.jpg"))
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        img = Image.open(self.files[i]).convert("RGB").resize((self.size, self.size))
        img = np.asarray(img) / 255.0
        img = (img - self.mean) / self.std
        return {"image": img.transpose(2, 0, 1).astype(np.float32), "index": i}


def arithmetic_by_hand(args):
    return DataLoader(
        ArithmeticDataset(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class DoublesDataset(ArithmeticDataset):
    """Nobody thought of types: the model gets doubles, and casts them"""

    def __getitem__(self, i):
        img = np.array(Image.open(self.files[i]).convert("RGB").resize((self.size, self.size)))
        gain = np.random.uniform(0.8, 1.2)
        img = np.clip(img * gain, 0, 255).astype(np.uint8)
        return torch.from_numpy(img / 255.0).permute(2, 0, 1), i


def doubles_by_hand(args):
    return DataLoader(
        DoublesDataset(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
