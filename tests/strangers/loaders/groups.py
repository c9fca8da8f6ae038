"""Several images a sample: pairs, triplets, clips."""

import os
import random
from pathlib import Path

import torch
import torchvision.transforms as T
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder


class SiamesePairs(Dataset):
    def __init__(self, image_folder, transform=None, should_invert=False):
        self.folder = image_folder
        self.transform = transform
        self.should_invert = should_invert

    def __getitem__(self, index):
        img0_tuple = random.choice(self.folder.imgs)
        should_get_same_class = random.randint(0, 1)
        if should_get_same_class:
            while True:
                img1_tuple = random.choice(self.folder.imgs)
                if img0_tuple[1] == img1_tuple[1]:
                    break
        else:
            while True:
                img1_tuple = random.choice(self.folder.imgs)
                if img0_tuple[1] != img1_tuple[1]:
                    break
        img0 = Image.open(img0_tuple[0])
        img1 = Image.open(img1_tuple[0])
        img0 = img0.convert("L")
        img1 = img1.convert("L")
        if self.transform is not None:
            img0 = self.transform(img0)
            img1 = self.transform(img1)
        return img0, img1, torch.tensor([float(img1_tuple[1] != img0_tuple[1])])

    def __len__(self):
        return len(self.folder.imgs)


def siamese_pairs(args):
    folder = ImageFolder(root=os.path.join(args.data, "photos"))
    tf = T.Compose([T.Resize((args.img_size, args.img_size)), T.ToTensor()])
    return DataLoader(
        SiamesePairs(folder, tf),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class TripletFolder(ImageFolder):
    """Anchor, positive, negative"""

    def __getitem__(self, index):
        path, y = self.samples[index]
        same = [i for i, t in enumerate(self.targets) if t == y and i != index] or [index]
        other = [i for i, t in enumerate(self.targets) if t != y]
        paths = [path, self.samples[random.choice(same)][0], self.samples[random.choice(other)][0]]
        a, p, n = (self.transform(self.loader(f)) for f in paths)
        return (a, p, n), y


def triplets(args):
    tf = T.Compose(
        [
            T.RandomResizedCrop(args.img_size, scale=(0.7, 1.0)),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize([0.5] * 3, [0.5] * 3),
        ]
    )
    return DataLoader(
        TripletFolder(f"{args.data}/photos", tf),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        pin_memory=False,
    )


class ClipDataset(Dataset):
    """T frames of a video; one crop and one flip for all of them"""

    def __init__(self, root: Path, clip_len: int, size: int):
        self.clips = sorted(p for p in root.iterdir() if p.is_dir())
        self.clip_len = clip_len
        self.size = size

    def __len__(self):
        return len(self.clips) * 2

    def __getitem__(self, i):
        frames = sorted((self.clips[i % len(self.clips)]).glob("*.jpg"))
        start = random.randrange(len(frames) - self.clip_len + 1)
        images = [Image.open(f).convert("RGB") for f in frames[start : start + self.clip_len]]
        top, left, h, w = T.RandomResizedCrop.get_params(images[0], (0.5, 1.0), (0.75, 1.33))
        flip = torch.rand(1).item() < 0.5
        clip = []
        for im in images:
            im = TF.resized_crop(im, top, left, h, w, (self.size, self.size))
            clip.append(TF.to_tensor(TF.hflip(im) if flip else im))
        return torch.stack(clip, dim=1), i % len(self.clips)  # C, T, H, W


def video_clips(args):
    return DataLoader(
        ClipDataset(Path(args.data) / "clips", clip_len=3, size=args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
