"""Arithmetic as people write it, on images that are not decoded yet: whole batches, to the bit."""

import random

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from tests.deferring.loaders import Files, loaders, same

MEAN = [0.485, 0.456, 0.406]
STD = [0.229, 0.224, 0.225]


class Doubles(Files):
    """NumPy's floats of double precision, and what torch makes of them."""

    def __getitem__(self, index):
        image = np.array(self.image(index).resize((9, 7))) / 255.0
        image = ((image - MEAN) / STD).transpose(2, 0, 1)
        return torch.from_numpy(image), torch.from_numpy(image).float(), image


class Halves(Files):
    """Half precision, by torch."""

    def __getitem__(self, index):
        image = torch.from_numpy(np.asarray(self.image(index).resize((9, 7))).copy())
        image = image.permute(2, 0, 1).contiguous().half().div_(255)
        return image, (image - 0.5).mul(2).unsqueeze(0)


class Brighter(Files):
    """Other numbers for each sample, and bytes again."""

    def __getitem__(self, index):
        image = np.asarray(self.image(index).resize((9, 7)))
        image = np.clip(image * random.uniform(0.5, 1.5), 0, 255).astype(np.uint8)
        turned = torch.from_numpy(255 - image[..., ::-1]).permute(2, 0, 1)
        return turned, turned.float() / 127.5 - 1, turned.long()


class Gray(Files):
    """One channel, which gets an axis, at either end."""

    def __getitem__(self, index):
        image = np.asarray(self.image(index).convert("L").resize((9, 7)))
        floats = (image[..., None] / 255.0).astype(np.float32)
        return floats, torch.from_numpy(floats).permute(2, 0, 1), image[None] * 2 - 1


class Mirrored(Files):
    """Parts and mirrors of tensors."""

    def __getitem__(self, index):
        image = torch.from_numpy(np.array(self.image(index))).permute(2, 0, 1)
        top = int(torch.randint(0, 4, ()))
        image = image[:, top : top + 8, 3:11]
        if torch.rand(()) < 0.5:
            image = torch.flip(image, dims=[2])
        return image.float() / 255, image


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("dataset", [Doubles, Halves, Brighter, Gray, Mirrored])
def test_batches_are_the_same(dataset, files, workers):
    same(dataset, files, num_workers=workers, shuffle=True)


@pytest.mark.parametrize("dataset", [Doubles, Halves, Brighter, Gray])
def test_nothing_is_asked_for_early(dataset, files):
    from penstock.deferring.dataset import deferral_of

    _, ours = loaders(dataset, files)
    list(ours)
    counts = deferral_of(ours.dataset).counts

    assert counts.deferred == len(files)
    assert not counts.again
    assert not counts.early
