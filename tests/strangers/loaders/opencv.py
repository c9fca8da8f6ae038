"""OpenCV and Albumentations."""

import glob
import os
import random

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


class RandomCropDataset(Dataset):
    """Random resized crop by slicing"""

    def __init__(self, paths, size):
        self.paths = paths
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, idx):
        img = cv2.imread(self.paths[idx])
        img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)
        h, w = img.shape[:2]
        scale = random.uniform(0.3, 1.0)
        ch, cw = max(1, int(h * scale)), max(1, int(w * scale))
        y, x = random.randint(0, h - ch), random.randint(0, w - cw)
        img = cv2.resize(img[y : y + ch, x : x + cw], (self.size, self.size))
        if random.random() > 0.5:
            img = cv2.flip(img, 1)
        img = torch.from_numpy(img).permute(2, 0, 1).float() / 255.0
        return img, os.path.basename(os.path.dirname(self.paths[idx]))


def opencv_random_crop(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    return DataLoader(
        RandomCropDataset(paths, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class InMemory(Dataset):
    """Bytes kept in RAM, decoded on the fly"""

    def __init__(self, paths, size):
        self.size = size
        self.blobs = []
        for path in paths:
            with open(path, "rb") as f:
                self.blobs.append(f.read())

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        buf = np.frombuffer(self.blobs[i], dtype=np.uint8)
        im = cv2.imdecode(buf, cv2.IMREAD_COLOR)
        im = cv2.resize(im, (self.size, self.size))
        im = im[:, :, ::-1].transpose(2, 0, 1).astype("float32") / 255.0
        im = (im - MEAN.reshape(3, 1, 1)) / STD.reshape(3, 1, 1)
        return torch.from_numpy(im), i


def opencv_imdecode(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    return DataLoader(
        InMemory(paths, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class LetterboxDataset(Dataset):
    """As YOLO has it: long side to img_size, gray border, BGR to RGB, bytes"""

    def __init__(self, paths, img_size):
        self.paths = paths
        self.img_size = img_size

    def __len__(self):
        return len(self.paths)

    def load_image(self, i):
        im = cv2.imread(self.paths[i])
        h0, w0 = im.shape[:2]
        r = self.img_size / max(h0, w0)
        if r != 1:
            im = cv2.resize(im, (int(w0 * r), int(h0 * r)), interpolation=cv2.INTER_LINEAR)
        return im, (h0, w0)

    def __getitem__(self, i):
        im, shape = self.load_image(i)
        dh, dw = (self.img_size - im.shape[0]) / 2, (self.img_size - im.shape[1]) / 2
        top, bottom = round(dh - 0.1), round(dh + 0.1)
        left, right = round(dw - 0.1), round(dw + 0.1)
        im = cv2.copyMakeBorder(
            im, top, bottom, left, right, cv2.BORDER_CONSTANT, value=(114, 114, 114)
        )
        if random.random() < 0.5:
            im = np.fliplr(im)
        im = im.transpose((2, 0, 1))[::-1]
        im = np.ascontiguousarray(im)
        return torch.from_numpy(im), shape


def opencv_letterbox(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    return DataLoader(
        LetterboxDataset(paths, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class GrayDataset(Dataset):
    def __init__(self, paths, size):
        self.paths = paths
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        img = cv2.imread(self.paths[i], cv2.IMREAD_GRAYSCALE)
        img = cv2.resize(img, (self.size, self.size))
        img = img.astype(np.float32) / 127.5 - 1.0
        return torch.from_numpy(img).unsqueeze(0), i


def opencv_gray(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    return DataLoader(
        GrayDataset(paths, args.img_size),
        batch_size=args.batch_size,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class AreaDataset(Dataset):
    """As YOLO validates: smaller by areas, a border, floats; photos that lie on their side"""

    def __init__(self, paths, size):
        self.paths = paths
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        im = cv2.imread(self.paths[i])
        h0, w0 = im.shape[:2]
        r = self.size / max(h0, w0)
        interp = cv2.INTER_AREA if r < 1 else cv2.INTER_LINEAR
        im = cv2.resize(im, (max(1, int(w0 * r)), max(1, int(h0 * r))), interpolation=interp)
        bottom, right = self.size - im.shape[0], self.size - im.shape[1]
        im = cv2.copyMakeBorder(im, 0, bottom, 0, right, cv2.BORDER_CONSTANT, value=(114,) * 3)
        if random.random() < 0.5:
            im = cv2.rotate(im, cv2.ROTATE_90_CLOCKWISE)
        im = im[:, :, ::-1].transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(im)).float() / 255.0, (h0, w0)


def opencv_area(args):
    paths = sorted(glob.glob(os.path.join(args.data, "photos", "*", "*.jpg")))
    return DataLoader(
        AreaDataset(paths, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
