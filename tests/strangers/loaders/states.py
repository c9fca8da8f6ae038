"""Datasets with a state of their own, or with none to rely on."""

import os
import random
import time

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from torchvision import transforms
from torchvision.datasets import ImageFolder

to_tensor = transforms.ToTensor()


class OwnRandomState(Dataset):
    """Draws from a generator that it keeps"""

    def __init__(self, root, size, seed):
        self.samples = ImageFolder(root).samples
        self.rng = np.random.RandomState(seed)
        self.size = size

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, y = self.samples[i]
        img = Image.open(path).convert("RGB").resize((self.size + 8, self.size + 8))
        x0, y0 = self.rng.randint(0, 9, size=2)
        img = img.crop((x0, y0, x0 + self.size, y0 + self.size))
        noise = self.rng.normal(0, 0.02, (3, self.size, self.size)).astype(np.float32)
        return to_tensor(img) + torch.from_numpy(noise), y


def own_random_state(args):
    return DataLoader(
        OwnRandomState(os.path.join(args.data, "photos"), args.img_size, args.seed),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class CoinFirst(Dataset):
    """A coin is thrown before the file is even chosen"""

    def __init__(self, root, size):
        self.folder = ImageFolder(root)
        self.weak = transforms.Compose([transforms.Resize((size, size)), to_tensor])
        self.strong = transforms.Compose(
            [
                transforms.RandomResizedCrop(size),
                transforms.RandomPosterize(3),
                transforms.RandomAutocontrast(),
                to_tensor,
            ]
        )

    def __len__(self):
        return len(self.folder)

    def __getitem__(self, i):
        coin = random.random()
        if coin < 0.2:
            i = random.randrange(len(self))
        img, label = self.folder[i]
        return (self.weak if coin > 0.7 else self.strong)(img), label, coin


def starts_with_random(args):
    return DataLoader(
        CoinFirst(os.path.join(args.data, "photos"), args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class Stream(IterableDataset):
    """Files one after the other, each worker its share"""

    def __init__(self, root, size):
        self.samples = ImageFolder(root).samples
        self.tf = transforms.Compose([transforms.RandomResizedCrop(size), to_tensor])

    def __iter__(self):
        info = get_worker_info()
        samples = self.samples if info is None else self.samples[info.id :: info.num_workers]
        for path, label in samples:
            yield self.tf(Image.open(path).convert("RGB")), label


def iterable_stream(args):
    return DataLoader(
        Stream(os.path.join(args.data, "photos"), args.img_size),
        batch_size=args.batch_size,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


SEEN = 0


class CountsCalls(Dataset):
    """A curriculum: the more samples were seen in this process, the smaller the crops"""

    def __init__(self, root, size):
        self.samples = ImageFolder(root).samples
        self.size = size

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        global SEEN
        SEEN += 1
        path, label = self.samples[i]
        least = max(0.1, 1 - SEEN / 1000)
        crop = transforms.RandomResizedCrop(self.size, scale=(least, 1.0))
        return to_tensor(crop(Image.open(path).convert("RGB"))), label


def counts_calls(args):
    return DataLoader(
        CountsCalls(os.path.join(args.data, "photos"), args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class SeededByClock(CountsCalls):
    """Seeds itself anew for each sample, so that no two runs are alike"""

    def __getitem__(self, i):
        rng = random.Random(time.time_ns())
        path, label = self.samples[i]
        img = Image.open(path).convert("RGB").resize((self.size, self.size))
        return to_tensor(img.rotate(rng.uniform(-30, 30))), label


def seeded_by_clock(args):
    return DataLoader(
        SeededByClock(os.path.join(args.data, "photos"), args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
