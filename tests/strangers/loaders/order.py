"""Which samples, in which order: weights, balance, buckets, folds, two data sets in one."""

import os
import random
from collections import defaultdict

import numpy as np
import torch
from PIL import Image
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    Sampler,
    Subset,
    WeightedRandomSampler,
)
from torchvision import transforms
from torchvision.datasets import ImageFolder


def basic_transform(size):
    return transforms.Compose(
        [
            transforms.Resize(size + size // 7),
            transforms.RandomCrop(size),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
        ]
    )


def weighted_sampler(args):
    train_set = ImageFolder(os.path.join(args.data, "photos"), basic_transform(args.img_size))
    counts = np.bincount(train_set.targets)
    weights = 1.0 / counts[train_set.targets]
    sampler = WeightedRandomSampler(
        torch.from_numpy(weights).double(), num_samples=len(train_set), replacement=True
    )
    return DataLoader(
        train_set,
        batch_size=args.batch_size,
        sampler=sampler,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class BalancedSampler(Sampler):
    """As many of each class, drawn anew in each epoch"""

    def __init__(self, labels):
        self.by_class = defaultdict(list)
        for i, y in enumerate(labels):
            self.by_class[y].append(i)
        self.per_class = max(len(v) for v in self.by_class.values())

    def __iter__(self):
        indices = []
        for members in self.by_class.values():
            indices += random.choices(members, k=self.per_class)
        random.shuffle(indices)
        return iter(indices)

    def __len__(self):
        return self.per_class * len(self.by_class)


def class_balanced(args):
    ds = ImageFolder(os.path.join(args.data, "photos"), basic_transform(args.img_size))
    return DataLoader(
        ds,
        batch_size=args.batch_size,
        sampler=BalancedSampler(ds.targets),
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class AspectBatchSampler(Sampler):
    """Wide images with wide ones: nothing is cut off"""

    def __init__(self, dataset, batch_size):
        self.batch_size = batch_size
        self.buckets = [[], []]
        for i, (path, _) in enumerate(dataset.samples):
            with Image.open(path) as im:
                self.buckets[int(im.width > im.height)].append(i)

    def __iter__(self):
        batches = []
        for bucket in self.buckets:
            order = torch.randperm(len(bucket)).tolist()
            for k in range(0, len(bucket), self.batch_size):
                batches.append([bucket[j] for j in order[k : k + self.batch_size]])
        np.random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return sum(-(-len(b) // self.batch_size) for b in self.buckets)


class ResizeForBucket:
    def __init__(self, short):
        self.short = short

    def __call__(self, img):
        long = self.short * 4 // 3
        wide = img.width > img.height
        return img.resize((long, self.short) if wide else (self.short, long), Image.LANCZOS)


def bucket_batches(args):
    tf = transforms.Compose([ResizeForBucket(args.img_size), transforms.ToTensor()])
    ds = ImageFolder(f"{args.data}/photos", tf)
    return DataLoader(
        ds,
        batch_sampler=AspectBatchSampler(ds, args.batch_size),
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


def k_fold(args, fold=1, k=3):
    full = ImageFolder(os.path.join(args.data, "photos"), basic_transform(args.img_size))
    shuffled = np.random.RandomState(args.seed).permutation(len(full))
    folds = np.array_split(shuffled, k)
    train_ids = np.concatenate([f for i, f in enumerate(folds) if i != fold])
    return DataLoader(
        Subset(full, train_ids),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class NpyDataset(Dataset):
    """Arrays, label always 4"""

    def __init__(self, folder, transform):
        self.files = [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.transform(Image.fromarray(np.load(self.files[i]))), 4


def concat_of_two_kinds(args):
    tf = transforms.Compose(
        [transforms.RandomResizedCrop(args.img_size, (0.6, 1)), transforms.ToTensor()]
    )
    photos = ImageFolder(os.path.join(args.data, "photos"), tf)
    arrays = NpyDataset(os.path.join(args.data, "arrays"), tf)
    return DataLoader(
        ConcatDataset([photos, arrays]),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
