"""Pillow by hand: arrays, thumbnails, drafts, enhancers, drawing, EXIF, files that are broken."""

import glob
import os
import random

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Base(Dataset):
    def __init__(self, args, folder="photos/*"):
        self.paths = sorted(glob.glob(os.path.join(args.data, folder, "*.jpg")))
        self.size = args.img_size

    def __len__(self):
        return len(self.paths)


def build(dataset, args, shuffle=True):
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=shuffle,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class ByHand(Base):
    def __getitem__(self, i):
        img = Image.open(self.paths[i]).convert("RGB")
        img = img.resize((self.size, self.size))
        img = np.array(img, dtype=np.float32) / 255.0
        img = (img - 0.5) / 0.5
        img = torch.from_numpy(img).permute(2, 0, 1)
        return img, torch.tensor(i % 4)


def by_hand_arrays(args):
    return build(ByHand(args), args)


class Thumbnails(Base):
    """No larger than `size`, on black"""

    def __getitem__(self, i):
        im = Image.open(self.paths[i])
        im.thumbnail((self.size, self.size), Image.LANCZOS)
        background = Image.new("RGB", (self.size, self.size))
        background.paste(im, ((self.size - im.width) // 2, (self.size - im.height) // 2))
        return transforms.functional.to_tensor(background)


def thumbnails(args):
    return build(Thumbnails(args), args, shuffle=False)


class Drafts(Base):
    """JPEGs decoded at a smaller scale, as fast as Pillow can"""

    def __getitem__(self, i):
        with open(self.paths[i], "rb") as f:
            im = Image.open(f)
            im.draft("RGB", (self.size, self.size))
            im = im.convert("RGB")
        im = ImageOps.fit(im, (self.size, self.size), Image.BICUBIC, centering=(0.5, 0.4))
        return np.asarray(im).copy(), os.path.getsize(self.paths[i])


def drafts(args):
    return build(Drafts(args), args)


class Enhanced(Base):
    """Brightness, contrast and colour by random factors, in a random order"""

    def __getitem__(self, i):
        im = Image.open(self.paths[i]).convert("RGB")
        im = ImageOps.fit(im, (self.size, self.size))
        enhancers = [ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color]
        random.shuffle(enhancers)
        for enhancer in enhancers:
            im = enhancer(im).enhance(np.random.uniform(0.6, 1.4))
        if random.random() < 0.3:
            im = ImageEnhance.Sharpness(im).enhance(2.0)
        return transforms.functional.pil_to_tensor(im)


def enhanced(args):
    return build(Enhanced(args), args)


class Cutout(Base):
    """A gray square somewhere, and a mirrored image now and then"""

    def __init__(self, args):
        super().__init__(args)
        self.tf = transforms.Compose(
            [transforms.Resize(args.img_size), transforms.RandomCrop(args.img_size)]
        )

    def __getitem__(self, i):
        im = self.tf(Image.open(self.paths[i]).convert("RGB"))
        if np.random.rand() > 0.5:
            im = ImageOps.mirror(im)
        x, y = np.random.uniform(self.size), np.random.uniform(self.size)
        half = self.size // 5
        box = (max(0, x - half), max(0, y - half), x + half, y + half)
        ImageDraw.Draw(im).rectangle(box, (125, 123, 114))
        return transforms.functional.to_tensor(im), box


def cutout_drawn(args):
    return build(Cutout(args), args)


class Upright(Base):
    def __init__(self, args):
        super().__init__(args)
        self.tf = transforms.Compose(
            [
                transforms.RandomResizedCrop(args.img_size, scale=(0.25, 1.0)),
                transforms.RandomVerticalFlip(),
                transforms.ToTensor(),
            ]
        )

    def __getitem__(self, i):
        image = Image.open(self.paths[i])
        image = ImageOps.exif_transpose(image)
        if image.mode != "RGB":
            image = image.convert("RGB")
        return self.tf(image), list(image.size)


def exif_upright(args):
    return build(Upright(args), args)


class Robust(Base):
    """A file that cannot be read is replaced by the next one"""

    def __init__(self, args):
        super().__init__(args, folder="damaged")
        self.tf = transforms.Compose(
            [transforms.Resize([args.img_size] * 2), transforms.RandomHorizontalFlip()]
        )

    def __getitem__(self, i):
        try:
            image = Image.open(self.paths[i]).convert("RGB")
            image = self.tf(image)
        except Exception:
            return self.__getitem__((i + 1) % len(self))
        return transforms.functional.to_tensor(image), self.paths[i]


def skips_broken(args):
    return build(Robust(args), args)


class Squares(Base):
    """Padded to a square, turned by quarters"""

    def __getitem__(self, i):
        im = ImageOps.pad(Image.open(self.paths[i]).convert("RGB"), (self.size, self.size))
        im = im.rotate(random.choice([0, 90, 180, 270]), expand=True)
        return transforms.functional.to_tensor(im), i % 4


def squares(args):
    return build(Squares(args), args)


class Faces(Base):
    """A box with a margin, which may reach beyond the photo"""

    def __getitem__(self, i):
        im = Image.open(self.paths[i]).convert("RGB")
        x, y = np.random.randint(0, im.width), np.random.randint(0, im.height)
        half = int(min(im.size) * 0.4)
        im = im.crop((x - half, y - half, x + half, y + half))
        im = ImageOps.expand(im, border=4, fill="gray").resize((self.size, self.size))
        return transforms.functional.to_tensor(im), torch.tensor([x, y])


def faces(args):
    return build(Faces(args), args)
