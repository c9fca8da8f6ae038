"""Batches that are mixed where they are collated; images of several sizes in one batch."""

import os

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2


class MixupCollate:
    def __init__(self, alpha, num_classes):
        self.alpha = alpha
        self.num_classes = num_classes

    def __call__(self, batch):
        images, labels = default_collate(batch)
        lam = np.random.beta(self.alpha, self.alpha)
        perm = torch.randperm(images.size(0))
        onehot = torch.nn.functional.one_hot(labels, self.num_classes).float()
        mixed = lam * images + (1 - lam) * images[perm]
        return mixed, lam * onehot + (1 - lam) * onehot[perm]


def mixup_in_collate(args):
    tf = transforms.Compose(
        [
            transforms.RandomResizedCrop(args.img_size),
            transforms.RandAugment(2, 9),
            transforms.ToTensor(),
        ]
    )
    return DataLoader(
        ImageFolder(os.path.join(args.data, "photos"), tf),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=MixupCollate(0.4, 4),
    )


def cutmix_in_collate(args):
    cutmix_or_mixup = v2.RandomChoice([v2.CutMix(num_classes=4), v2.MixUp(num_classes=4)])

    def collate_fn(batch):
        return cutmix_or_mixup(*default_collate(batch))

    transform = v2.Compose(
        [
            v2.RandomResizedCrop(args.img_size),
            v2.RandomHorizontalFlip(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    return DataLoader(
        ImageFolder(os.path.join(args.data, "photos"), transform),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=collate_fn,
    )


class NativeResolution(Dataset):
    """Each image in its own size, a multiple of 8"""

    def __init__(self, root, longest):
        self.samples = ImageFolder(root).samples
        self.longest = longest

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        image = Image.open(path).convert("RGB")
        r = self.longest / max(image.size)
        w, h = (max(8, int(s * r) // 8 * 8) for s in image.size)
        image = image.resize((w, h), resample=Image.Resampling.BICUBIC)
        return transforms.functional.to_tensor(image), label


def pad_to_largest(batch):
    """As NestedTensor: images in one tensor, and where they are not"""
    h = max(im.shape[1] for im, _ in batch)
    w = max(im.shape[2] for im, _ in batch)
    padded = torch.zeros(len(batch), 3, h, w)
    mask = torch.ones(len(batch), h, w, dtype=torch.bool)
    for k, (im, _) in enumerate(batch):
        padded[k, :, : im.shape[1], : im.shape[2]].copy_(im)
        mask[k, : im.shape[1], : im.shape[2]] = False
    return {"tensors": padded, "mask": mask}, [label for _, label in batch]


def padded_in_collate(args):
    return DataLoader(
        NativeResolution(os.path.join(args.data, "photos"), args.img_size * 2),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=pad_to_largest,
    )
