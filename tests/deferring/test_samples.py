import collections
from typing import NamedTuple

import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

import torch
from torchvision.transforms import functional as TF
from torchvision.transforms import v2

from tests.deferring.loaders import Files, Sample, loaders, same


def cleared(batch):
    """What a batch is, for a training that then changes it in place."""
    inner = list(batch.values()) if isinstance(batch, dict) else batch
    tensors = [inner] if isinstance(inner, torch.Tensor) else [*inner]
    copies = []
    for one in tensors:
        copies.append(one.clone() if isinstance(one, torch.Tensor) else one)
        if isinstance(one, torch.Tensor):
            one.zero_()
    return copies


class KeepsTensors(Files):
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = self.tensor(index)
        return self.cache[index]


class KeepsSamples(Files):
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = (self.tensor(index), index)
        return self.cache[index]


class KeepsDictionaries(Files):
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = collections.OrderedDict(image=self.tensor(index))
        return self.cache[index]


class KeepsImages(Files):
    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = self.image(index)
        return TF.to_tensor(self.cache[index].resize((5, 5)))


class GivesTwice(Files):
    def __getitem__(self, index):
        image = self.tensor(index)
        return image, image


class GivesViews(Files):
    def __getitem__(self, index):
        image = self.tensor(index)
        return image, image[0], image.view(-1), image.flip(0)


class ChangesViews(Files):
    def __getitem__(self, index):
        image = v2.functional.to_image(self.image(index).resize((9, 9)))
        image = v2.functional.to_dtype(image, torch.float32, scale=True)
        part = v2.functional.crop(image, 1, 2, 4, 5)
        v2.functional.normalize(image, [0.5] * 3, [0.5] * 3, inplace=True)
        return image, part


class SameForAll(Files):
    def __init__(self, files):
        super().__init__(files)
        self.one = None

    def __getitem__(self, index):
        if self.one is None:
            self.one = self.tensor(0)
        return self.one


KEEPING = [
    *(KeepsTensors, KeepsSamples, KeepsDictionaries, KeepsImages),
    *(GivesTwice, GivesViews, ChangesViews, SameForAll),
]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("dataset", KEEPING, ids=lambda one: one.__name__)
def test_a_training_changes_its_own_batches_only(files, dataset, shuffle):
    same(dataset, files, each=cleared, shuffle=shuffle)


@pytest.mark.parametrize("dataset", [KeepsTensors, GivesTwice], ids=lambda one: one.__name__)
def test_the_same_with_workers_that_stay(files, dataset):
    same(dataset, files, each=cleared, num_workers=2, persistent_workers=True)


def test_a_training_that_changes_samples_changes_what_is_kept(files):
    """Where a collate function returns the very tensor that the Dataset keeps."""

    def more(batch):
        copies = [one.clone() for one in batch]
        for one in batch:
            one.add_(1)
        return copies

    same(KeepsTensors, files, each=more, epochs=3, collate_fn=list)


class OwnList(list):
    pass


class OwnDictionary(dict):
    pass


class Pair(NamedTuple):
    image: object
    label: object


class Nests(Files):
    def __getitem__(self, index):
        image = self.tensor(index)
        return OwnDictionary(
            pair=Pair(self.tensor(index), None),
            listed=OwnList([image, index, {"deep": (self.image(index),)}]),
            kept=Sample(self.tensor(index), index),
            user=collections.UserDict(image=image),
            empty=[],
        )


def test_containers_of_all_kinds(files):
    def plain(batch):
        assert type(batch[0]["listed"]) is OwnList
        return [
            (one["pair"], list(one["listed"]), one["kept"].image, dict(one["user"]), one["empty"])
            for one in batch
        ]

    same(Nests, files, each=plain, collate_fn=list)


class AddsAttributes(Files):
    def __getitem__(self, index):
        image, tensor = self.image(index), self.tensor(index)
        image.label, tensor.label = index, -index
        return image, tensor


def test_what_is_added_to_images_and_tensors_goes_along(files):
    same(
        AddsAttributes,
        files,
        each=lambda batch: [(image.label, tensor.label) for image, tensor in batch],
        collate_fn=list,
    )


def test_batches_that_are_kept_do_not_change(files):
    for workers in (0, 2):
        loader = loaders(Files, files, num_workers=workers)[1]
        kept = [(batch, batch.clone()) for _ in range(3) for batch in loader]

        assert all(torch.equal(batch, copy) for batch, copy in kept)
