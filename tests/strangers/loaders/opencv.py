"""OpenCV and Albumentations."""

import glob
import os

import albumentations as A
import cv2
import numpy as np
import torch
from albumentations.pytorch import ToTensorV2
from PIL import Image
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
STD = np.array([0.229, 0.224, 0.225], dtype=np.float32)


class SegDataset(Dataset):
    """Photo and mask, moved together"""

    def __init__(self, images, masks, augmentation=None):
        self.images = images
        self.masks = masks
        self.augmentation = augmentation

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = np.array(Image.open(self.images[i]).convert("RGB"))
        mask = np.array(Image.open(self.masks[i]))
        if self.augmentation:
            sample = self.augmentation(image=image, mask=mask)
            image, mask = sample["image"], sample["mask"]
        return image, mask.long()


def albumentations_masks(args):
    images = sorted(glob.glob(f"{args.data}/photos/*/*.jpg"), key=os.path.basename)
    masks = sorted(glob.glob(f"{args.data}/masks/*.png"))
    aug = A.Compose(
        [
            A.PadIfNeeded(args.img_size, args.img_size),
            A.RandomCrop(args.img_size, args.img_size),
            A.HorizontalFlip(p=0.5),
            A.RandomRotate90(p=0.5),
            A.RandomBrightnessContrast(p=0.3),
            A.Normalize(),
            ToTensorV2(),
        ],
        seed=args.seed,
    )
    return DataLoader(
        SegDataset(images, masks, aug),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class KaggleDataset(Dataset):
    def __init__(self, paths, labels, transform=None):
        self.paths = paths
        self.labels = labels
        self.transform = transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, idx):
        image = cv2.imread(self.paths[idx])
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        if self.transform:
            image = self.transform(image=image)["image"]
        label = torch.tensor(self.labels[idx]).float()
        return image, label


def seed_albumentations(worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.transform.set_random_seed(torch.initial_seed() % 2**32)


def opencv_albumentations(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    labels = [int(os.path.basename(os.path.dirname(p))[-1]) for p in paths]
    tf = A.Compose(
        [
            A.RandomResizedCrop(size=(args.img_size, args.img_size), scale=(0.5, 1.0)),
            A.Transpose(p=0.5),
            A.Affine(scale=(0.8, 1.2), rotate=(-15, 15), p=0.5),
            A.HueSaturationValue(p=0.5),
            A.CoarseDropout(p=0.5),
            A.Normalize(mean=MEAN.tolist(), std=STD.tolist()),
            ToTensorV2(),
        ],
        seed=args.seed,
    )
    return DataLoader(
        KaggleDataset(paths, labels, tf),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        worker_init_fn=seed_albumentations,
    )


class Cv2Dataset(Dataset):
    """Everything by hand"""

    def __init__(self, data, size, train=True):
        self.files = sorted(glob.glob(data + "/photos/*/*.jpg"))
        self.size = size
        self.train = train

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        img = cv2.imread(self.files[i], cv2.IMREAD_COLOR)
        assert img is not None, self.files[i]
        img = cv2.resize(img, (self.size + 4, self.size + 4), interpolation=cv2.INTER_LINEAR)
        y, x = np.random.randint(0, 5), np.random.randint(0, 5)
        img = img[y : y + self.size, x : x + self.size]
        if self.train and np.random.rand() < 0.5:
            img = img[:, ::-1]
        img = img[:, :, ::-1].astype(np.float32) / 255.0  # BGR to RGB
        img = (img - MEAN) / STD
        return torch.from_numpy(np.ascontiguousarray(img.transpose(2, 0, 1))), i % 4


def opencv_by_hand(args):
    return DataLoader(
        Cv2Dataset(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
