"""Bytes from somewhere else than a file of one's own; images that are kept."""

import glob
import io
import os
import random
import tarfile

import numpy as np
import torch
from PIL import Image, ImageOps
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2


def train_tf(size):
    return T.Compose(
        [
            T.RandomResizedCrop(size),
            T.RandomHorizontalFlip(),
            T.ToTensor(),
            T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )


class LMDBDataset(Dataset):
    def __init__(self, db_path, transform):
        import lmdb

        self.db_path = db_path
        self.transform = transform
        env = lmdb.open(db_path, readonly=True, lock=False, readahead=False, meminit=False)
        with env.begin(write=False) as txn:
            self.keys = [k for k, _ in txn.cursor()]
        env.close()
        self.env = None  # opened by each worker

    def _init_db(self):
        import lmdb

        self.env = lmdb.open(
            self.db_path, readonly=True, lock=False, readahead=False, meminit=False
        )

    def __getitem__(self, index):
        if self.env is None:
            self._init_db()
        with self.env.begin(write=False) as txn:
            byteflow = txn.get(self.keys[index])
        buf = io.BytesIO()
        buf.write(byteflow)
        buf.seek(0)
        img = Image.open(buf).convert("RGB")
        return self.transform(img), int(self.keys[index]) % 4

    def __len__(self):
        return len(self.keys)


def lmdb_bytes(args):
    return DataLoader(
        LMDBDataset(os.path.join(args.data, "photos.lmdb"), train_tf(args.img_size)),
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class H5Dataset(Dataset):
    def __init__(self, path, transform=None):
        import h5py

        self.path = path
        self.transform = transform
        self.file = None
        with h5py.File(path, "r") as f:
            self.n = len(f["images"])
            self.labels = f["labels"][:]

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.file is None:
            import h5py

            self.file = h5py.File(self.path, "r")
        raw = self.file["images"][i]
        pil = Image.open(io.BytesIO(raw.tobytes()))
        if pil.mode != "RGB":
            pil = pil.convert("RGB")
        return self.transform(pil), self.labels[i]


def hdf5_bytes(args):
    ds = H5Dataset(args.data + "/photos.h5", train_tf(args.img_size))
    return DataLoader(
        ds,
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class TarDataset(Dataset):
    """Members by their offsets; decoded by torchvision"""

    def __init__(self, tar, transform):
        self.tar = tar
        with tarfile.open(tar) as t:
            members = [m for m in t.getmembers() if m.name.endswith(".jpg")]
        self.index = [(m.name, m.offset_data, m.size) for m in members]
        self.transform = transform

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        name, offset, size = self.index[i]
        with open(self.tar, "rb") as f:
            f.seek(offset)
            data = torch.frombuffer(bytearray(f.read(size)), dtype=torch.uint8)
        image = decode_image(data, mode=ImageReadMode.RGB)
        return self.transform(image), int(name.split("/")[0].split("_")[1])


def tar_decode_image(args):
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(args.img_size, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    ds = TarDataset(os.path.join(args.data, "photos.tar"), transform)
    return DataLoader(
        ds,
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class CachedImages(Dataset):
    """Images stay in memory once they were opened"""

    def __init__(self, files, size):
        self.files = files
        self.cache = {}
        self.tf = train_tf(size)

    def _get(self, i):
        if i not in self.cache:
            img = Image.open(self.files[i])
            img = ImageOps.exif_transpose(img).convert("RGB")
            img.thumbnail((512, 512))
            self.cache[i] = img
        return self.cache[i]

    def __getitem__(self, i):
        return self.tf(self._get(i)), i

    def __len__(self):
        return len(self.files)


def cached_images(args):
    files = sorted(glob.glob(args.data + "/photos/*/*.jpg"))
    return DataLoader(
        CachedImages(files, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class InRam(Dataset):
    """All files are read at the start; a random scale for each sample"""

    def __init__(self, root, size):
        self.blobs = []
        for p in sorted(glob.glob(os.path.join(root, "photos", "**", "*.jpg"), recursive=True)):
            with open(p, "rb") as f:
                self.blobs.append(f.read())
        self.size = size

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        img = Image.open(io.BytesIO(self.blobs[i])).convert("RGB")
        scale = random.uniform(1.0, 1.3)
        side = int(self.size * scale)
        img = img.resize((side, side), Image.BILINEAR)
        x, y = random.randint(0, side - self.size), random.randint(0, side - self.size)
        img = img.crop((x, y, x + self.size, y + self.size))
        return np.asarray(img, dtype=np.float32).transpose(2, 0, 1) / 127.5 - 1


def cached_bytes(args):
    return DataLoader(
        InRam(args.data, args.img_size),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
