"""Where labels and file names come from: JSON, pickle, text; folders with a twist."""

import json
import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms


class MultiLabelDataset(Dataset):
    NUM_ATTRIBUTES = 6

    def __init__(self, root, ann_file, transform=None):
        self.root = root
        with open(os.path.join(root, ann_file)) as f:
            self.items = json.load(f)
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        item = self.items[idx]
        image = Image.open(os.path.join(self.root, item["file"])).convert("RGB")
        target = torch.zeros(self.NUM_ATTRIBUTES)
        target[item["attributes"]] = 1.0
        if self.transform:
            image = self.transform(image)
        return image, target


def multi_hot_json(args):
    tf = transforms.Compose(
        [
            transforms.Resize((args.img_size + 4, args.img_size + 4)),
            transforms.RandomCrop(args.img_size),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
        ]
    )
    return DataLoader(
        MultiLabelDataset(args.data, "attributes.json", tf),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class PickledSamples(Dataset):
    """Everything by name: {'image', 'label', 'path', 'size'}"""

    def __init__(self, root: str, size: int):
        with open(f"{root}/samples.pkl", "rb") as f:
            self.samples = pickle.load(f)
        self.root = Path(root)
        self.trans = transforms.Compose(
            [
                transforms.RandomAffine(degrees=15, translate=(0.1, 0.1), scale=(0.9, 1.1)),
                transforms.Resize([size, size], transforms.InterpolationMode.BICUBIC),
                transforms.ToTensor(),
            ]
        )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> dict:
        rel, label = self.samples[index]
        with Image.open(self.root / rel) as im:
            w, h = im.size
            image = self.trans(im.convert("RGB"))
        return {
            "image": image,
            "label": label,
            "one_hot": np.eye(4, dtype=np.float32)[label],
            "path": rel,
            "size": (h, w),
        }


def pickle_dicts(args):
    ds = PickledSamples(args.data, args.img_size)
    return DataLoader(
        ds,
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


# --- captions -------------------------------------------------------------------------------------


class Vocabulary:
    def __init__(self, sentences):
        counts = Counter(w for s in sentences for w in s.split())
        self.word2idx = {"<pad>": 0, "<start>": 1, "<end>": 2}
        for w, _ in counts.most_common():
            self.word2idx[w] = len(self.word2idx)

    def __call__(self, sentence):
        ids = [self.word2idx[w] for w in sentence.lower().split()]
        return torch.LongTensor([1, *ids, 2])


class CaptionDataset(Dataset):
    def __init__(self, root, transform):
        self.root = root
        lines = open(os.path.join(root, "captions.txt"), encoding="utf-8").read().splitlines()
        self.pairs = [line.split("\t") for line in lines]
        self.vocab = Vocabulary([c for _, c in self.pairs])
        self.transform = transform

    def __getitem__(self, index):
        name, caption = self.pairs[index]
        image = Image.open(os.path.join(self.root, name)).convert("RGB")
        return self.transform(image), self.vocab(caption), caption

    def __len__(self):
        return len(self.pairs)


def caption_collate(data):
    """Longest caption first, as pack_padded_sequence wants it"""
    data.sort(key=lambda x: len(x[1]), reverse=True)
    images, tokens, captions = zip(*data)
    lengths = [len(t) for t in tokens]
    padded = pad_sequence(tokens, batch_first=True)
    packed = pack_padded_sequence(padded, lengths, batch_first=True)
    return torch.stack(images, 0), padded, packed, list(captions)


def captions_padded(args):
    transform = transforms.Compose(
        [
            transforms.Resize(args.img_size + 6),
            transforms.RandomCrop(args.img_size),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    return DataLoader(
        dataset=CaptionDataset(args.data, transform),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
        collate_fn=caption_collate,
    )


# --- ImageFolder, changed a little ----------------------------------------------------------------


def gray_loader(path):
    with open(path, "rb") as f:
        img = Image.open(f)
        return img.convert("L")


def folder_own_loader(args):
    tf = transforms.Compose(
        [
            transforms.RandomRotation(10),
            transforms.RandomResizedCrop(args.img_size, scale=(0.5, 1)),
            transforms.ToTensor(),
            transforms.Normalize((0.5,), (0.5,)),
        ]
    )
    ds = datasets.ImageFolder(f"{args.data}/photos", transform=tf, loader=gray_loader)
    return DataLoader(
        ds,
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )


class ImageFolderWithPaths(datasets.ImageFolder):
    """ImageFolder, with the path of the file as a third item"""

    def __getitem__(self, index):
        original = super().__getitem__(index)
        path = self.imgs[index][0]
        return original + (path,)


def folder_with_paths(args):
    data_transforms = transforms.Compose(
        [
            transforms.Resize(args.img_size),
            transforms.CenterCrop(args.img_size),
            transforms.ToTensor(),
        ]
    )
    dataset = ImageFolderWithPaths(os.path.join(args.data, "photos"), data_transforms)
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        num_workers=args.workers,
        persistent_workers=args.persistent,
    )
