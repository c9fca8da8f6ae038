"""Datasets of users' own are followed to files and labels, or to the line that is not known."""

import os
import random
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from PIL import Image

from penstock.translation.datasets.read_dataset import read_dataset
from penstock.translation.tracing.values import AsArray, UnfollowableError

NAMES = ["a.jpg", "b.png", "c.jpg"]


class Base:
    """Three files."""

    def __init__(self, transform=None):
        self.root = "photos"
        self.names = NAMES
        self.labels = np.array([4, 5, 6])
        self.transform = transform

    def __len__(self):
        return len(self.names)


class Samples(Base):
    """Pairs, and a function of its own that loads."""

    def __init__(self, transform=None):
        super().__init__(transform)
        self.samples = [(os.path.join("photos", name), label) for label, name in enumerate(NAMES)]

    def __getitem__(self, index):
        """Return an image and a label."""
        path, label = self.samples[index]
        image = self.load(path)
        if self.transform is not None:
            image = self.transform(image)
        return image, label

    def load(self, path, mode="RGB"):
        with open(path, "rb") as file:
            image = Image.open(file)
            return image.convert(mode)


class Paths(Base):
    """pathlib, an f-string, a dictionary of classes."""

    index_of = {"a": 10, "b": 11, "c": 12}  # noqa: RUF012  as users write it

    def __getitem__(self, i):
        name: str = self.names[i]
        stem = name.split(".", 1)[0]
        with PIL.Image.open(Path(self.root) / f"{name}") as image:
            image.load()
            gray = image.convert("L")
        return {"image": self.transform(gray), "label": self.index_of[stem]}


class Alone(Base):
    """No label; a condition that is the same for all."""

    def __getitem__(self, index):
        if not isinstance(index, int) or self.root is None:
            raise TypeError(index)
        if len(self.names) > 100 and self.names:
            pass
        return Image.open(self.root + "/" + self.names[index]).convert("RGB")


def step(image):
    return image


def test_pairs_and_a_method():
    read = read_dataset(Samples(step))

    assert list(read.paths) == [os.path.join("photos", name) for name in NAMES]
    assert read.labels.tolist() == [0, 1, 2]
    assert read.labels.dtype == np.int64
    assert read.modes == ("RGB",)
    assert read.steps == (step,)
    assert read.nesting == ("image", "label")
    assert read_dataset(Samples()).steps == ()


def test_paths_and_dictionaries():
    read = read_dataset(Paths(step))

    assert [str(path) for path in read.paths] == [os.path.join("photos", name) for name in NAMES]
    assert read.labels.tolist() == [10, 11, 12]
    assert read.modes == ("L",)
    assert read.nesting == {"image": "image", "label": "label"}


def test_a_target_transform(tv, folder):
    dataset = tv.ImageFolder(str(folder), step, target_transform=lambda label: label * 2 + 1)

    assert read_dataset(dataset).labels.tolist() == [2 * label + 1 for label in dataset.targets]


def test_images_alone():
    assert read_dataset(Alone()).nesting == "image"


class Guesses(Base):
    def __getitem__(self, index):
        other = random.choice(self.names)
        return Image.open(other).convert("RGB"), self.labels[index]


class Tries(Base):
    def __getitem__(self, index):
        try:
            return Image.open(self.names[index]).convert("RGB"), 1
        except OSError:
            return self[index + 1]


class Resizes(Base):
    def __getitem__(self, index):
        image = Image.open(self.names[index]).convert("RGB").resize((8, 8))
        return image, self.labels[index]


class Depends(Base):
    def __getitem__(self, index):
        image = Image.open(self.names[index]).convert("RGB")
        if self.labels[index] > 4:
            image = self.transform(image)
        return image, self.labels[index]


class Words(Base):
    def __getitem__(self, index):
        return Image.open(self.names[index]).convert("RGB"), self.names[index]


class Halves(Base):
    def __getitem__(self, index):
        return Image.open(self.names[index]).convert("RGB"), np.float32(self.labels[index])


class Remembers(Base):
    def __getitem__(self, index):
        self.last = index
        return Image.open(self.names[index]).convert("RGB"), self.labels[index]


class Arrays(Base):
    def __getitem__(self, index):
        return Image.fromarray(self.labels[index]), 1


class Missing(Base):
    def __getitem__(self, index):
        return Image.open(self.files[index]).convert("RGB"), 1


class Counts(Base):
    def __getitem__(self, index):
        return Image.open(self.names[index]).convert("RGB"), 1, 2.0


class Cmyk(Base):
    def __getitem__(self, index):
        return Image.open(self.names[index]).convert("CMYK"), self.labels[index]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Guesses, r"`other = random.choice\(self.names\)`: what random.choice does is"),
        (Tries, "`try:`: such a statement cannot be followed"),
        (Resizes, r"`image = .*resize.*`: what .resize\(\) does to the image is not known"),
        (Depends, r"`if self.labels\[index\] > 4:`: .* depends on the sample"),
        (Words, "labels are str; known are int"),
        (Halves, "what np.float32 does is not known"),
        (Remembers, "`self.last = index`: something other than a plain name is assigned to"),
        (Arrays, "what Image.fromarray does is not known"),
        (Missing, "`return .*`: AttributeError: 'Missing' object has no attribute 'files'"),
        (Counts, "a sample is something other than an image, an image and a label, or"),
        (Cmyk, "images are converted to mode 'CMYK'; known are RGB and L"),
    ],
)
def test_what_is_not_known_is_named(kind, why):
    with pytest.raises(UnfollowableError, match=why):
        read_dataset(kind(step))


class Albumentations(Base):
    def __getitem__(self, index):
        pixels = np.array(Image.open(self.names[index]).convert("RGB"))
        return self.transform(image=pixels)["image"], self.labels[index]


def test_albumentations():
    """Known by the name of its module, so that it need not be installed."""
    compose = type("Compose", (), {"__module__": "albumentations.core.composition"})
    compose.__call__ = lambda _, **named: named
    transform = compose()

    assert read_dataset(Albumentations(transform)).steps == (AsArray(), transform)


@pytest.mark.parametrize("data", [[(1, 2)], {0: 1}, "text"], ids=type)
def test_plain_containers(data):
    with pytest.raises(UnfollowableError, match=r"the source of .*__getitem__ cannot be read"):
        read_dataset(data)


def test_tensors(tv):
    with pytest.raises(UnfollowableError, match=r"`return tuple.*` cannot be followed"):
        read_dataset(tv.data.TensorDataset(tv.torch.zeros(3)))


def test_code_without_a_source():
    space = {"Base": Base, "Image": Image}
    exec(  # noqa: S102  a class as an interactive session has it
        "class Typed(Base):\n    def __getitem__(self, i): return Image.open(self.names[i])", space
    )
    with pytest.raises(UnfollowableError, match=r"the source of Typed.__getitem__ cannot be read"):
        read_dataset(space["Typed"]())


def test_whole_batches_at_once():
    class Batched(Samples):
        def __getitems__(self, indices):
            return [self[index] for index in indices]

    with pytest.raises(UnfollowableError, match="Batched has a __getitems__ of its own"):
        read_dataset(Batched())


def test_subsets_and_joined_datasets(tv):
    data = tv.data
    first, second = Samples(step), Samples(step)
    joined = data.ConcatDataset([data.Subset(first, [2, 0]), second])
    read = read_dataset(joined)

    assert [Path(path).name for path in read.paths] == ["c.jpg", "a.jpg", *NAMES]
    assert read.labels.tolist() == [2, 0, 0, 1, 2]
    with pytest.raises(UnfollowableError, match="do different things to their images"):
        read_dataset(data.ConcatDataset([first, Samples()]))


def test_iterated_datasets(tv):
    class Stream(tv.data.IterableDataset):
        def __iter__(self):
            return iter(())

    with pytest.raises(UnfollowableError, match="Stream is iterated"):
        read_dataset(Stream())
