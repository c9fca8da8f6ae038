"""Several views of an image: contrastive learning, multi-crop, ten crops, test time."""

import os
import random

import torch
import torchvision.transforms as transforms
import torchvision.transforms.functional as TF
from PIL import Image, ImageFilter, ImageOps
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder

IMAGENET = dict(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])


# --- SimCLR ---------------------------------------------------------------------------------------


class ContrastiveViews:
    def __init__(self, base_transform, n_views=2):
        self.base_transform = base_transform
        self.n_views = n_views

    def __call__(self, x):
        return [self.base_transform(x) for _ in range(self.n_views)]


def simclr_pipeline(size, s=1):
    jitter = transforms.ColorJitter(0.8 * s, 0.8 * s, 0.8 * s, 0.2 * s)
    kernel = int(0.1 * size) // 2 * 2 + 1
    return transforms.Compose(
        [
            transforms.RandomResizedCrop(size=size),
            transforms.RandomHorizontalFlip(),
            transforms.RandomApply([jitter], p=0.8),
            transforms.RandomGrayscale(p=0.2),
            transforms.GaussianBlur(kernel_size=kernel),
            transforms.ToTensor(),
        ]
    )


def simclr(args):
    dataset = ImageFolder(
        os.path.join(args.data, "photos"),
        transform=ContrastiveViews(simclr_pipeline(args.img_size), n_views=2),
    )
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        drop_last=True,
    )


# --- MoCo v2 --------------------------------------------------------------------------------------


class TwoCropsTransform:
    """Query and key: two random crops of one image"""

    def __init__(self, base_transform):
        self.base_transform = base_transform

    def __call__(self, x):
        q = self.base_transform(x)
        k = self.base_transform(x)
        return [q, k]


class PILBlur:
    """Blur by Pillow, sigma drawn by `random`"""

    def __init__(self, sigma=(0.1, 2.0)):
        self.sigma = sigma

    def __call__(self, x):
        sigma = random.uniform(self.sigma[0], self.sigma[1])
        return x.filter(ImageFilter.GaussianBlur(radius=sigma))


def moco(args):
    normalize = transforms.Normalize(**IMAGENET)
    augmentation = [
        transforms.RandomResizedCrop(args.img_size, scale=(0.2, 1.0)),
        transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
        transforms.RandomGrayscale(p=0.2),
        transforms.RandomApply([PILBlur([0.1, 2.0])], p=0.5),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        normalize,
    ]
    train_dataset = ImageFolder(
        os.path.join(args.data, "photos"), TwoCropsTransform(transforms.Compose(augmentation))
    )
    return torch.utils.data.DataLoader(
        train_dataset,
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        drop_last=True,
    )


# --- DINO -----------------------------------------------------------------------------------------


class Solarize:
    def __init__(self, p):
        self.p = p

    def __call__(self, img):
        return ImageOps.solarize(img) if random.random() < self.p else img


class MaybeBlur:
    def __init__(self, p=0.5, radius_min=0.1, radius_max=2.0):
        self.prob = p
        self.radius_min = radius_min
        self.radius_max = radius_max

    def __call__(self, img):
        do_it = random.random() <= self.prob
        if not do_it:
            return img
        r = random.uniform(self.radius_min, self.radius_max)
        return img.filter(ImageFilter.GaussianBlur(radius=r))


class MultiCrop:
    """Two large views and eight small ones"""

    def __init__(self, size, local_crops_number=8):
        flip_and_color = transforms.Compose(
            [
                transforms.RandomHorizontalFlip(p=0.5),
                transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8),
                transforms.RandomGrayscale(p=0.2),
            ]
        )
        end = transforms.Compose([transforms.ToTensor(), transforms.Normalize(**IMAGENET)])

        def crop(px, scale):
            return transforms.RandomResizedCrop(px, scale=scale, interpolation=Image.BICUBIC)

        self.global_1 = transforms.Compose(
            [crop(size, (0.4, 1)), flip_and_color, MaybeBlur(1.0), end]
        )
        self.global_2 = transforms.Compose(
            [crop(size, (0.4, 1)), flip_and_color, MaybeBlur(0.1), Solarize(0.2), end]
        )
        self.local = transforms.Compose(
            [crop(size * 3 // 7, (0.05, 0.4)), flip_and_color, MaybeBlur(0.5), end]
        )
        self.local_crops_number = local_crops_number

    def __call__(self, image):
        crops = []
        crops.append(self.global_1(image))
        crops.append(self.global_2(image))
        for _ in range(self.local_crops_number):
            crops.append(self.local(image))
        return crops


def dino(args):
    dataset = ImageFolder(os.path.join(args.data, "photos"), transform=MultiCrop(args.img_size))
    sampler = torch.utils.data.RandomSampler(dataset)
    return DataLoader(
        dataset,
        sampler=sampler,
        batch_size=args.batch_size,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        drop_last=True,
    )


# --- ten crops, and the views of test time --------------------------------------------------------


def ten_crops(args):
    normalize = transforms.Normalize([0.5] * 3, [0.5] * 3)
    tf = transforms.Compose(
        [
            transforms.Resize(args.img_size + 8),
            transforms.TenCrop(args.img_size),
            transforms.Lambda(lambda crops: torch.stack([transforms.ToTensor()(c) for c in crops])),
            transforms.Lambda(lambda t: torch.stack([normalize(c) for c in t])),
        ]
    )
    test_set = ImageFolder(f"{args.data}/photos", tf)
    return DataLoader(
        test_set, args.batch_size, num_workers=args.workers, persistent_workers=args.persistent
    )


class TTADataset(Dataset):
    """Each image at two scales, straight and mirrored; no labels"""

    def __init__(self, folder, size):
        self.paths = sorted(os.path.join(d, f) for d, _, fs in os.walk(folder) for f in fs)
        self.sizes = [size, int(size * 1.25)]
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        img = Image.open(self.paths[i]).convert("RGB")
        views = []
        for s in self.sizes:
            scaled = TF.center_crop(TF.resize(img, [s, s], antialias=True), [self.size, self.size])
            views += [TF.to_tensor(scaled), TF.to_tensor(TF.hflip(scaled))]
        return torch.stack(views), os.path.basename(self.paths[i])


def test_time_views(args):
    ds = TTADataset(os.path.join(args.data, "photos"), args.img_size)
    return DataLoader(
        ds,
        batch_size=args.batch_size,
        shuffle=False,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
