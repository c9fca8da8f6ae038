"""Detection Datasets as users write them: followed, or refused with the line that is not."""

import numpy as np
import pytest
from PIL import Image

from penstock.errors import TranslationError
from tests.translation.accelerate.reading import accelerate
from tests.translation.accelerate.same_targets import assert_same_batches, assert_same_target


@pytest.fixture(scope="module")
def files(folder):
    return sorted(str(path) for path in folder.rglob("*.jpg"))


def together(batch):
    return tuple(zip(*batch))  # noqa: B905  as users write it


def reason(tv, dataset):
    loader = tv.data.DataLoader(dataset, batch_size=4, collate_fn=together)
    with pytest.raises(TranslationError) as caught:
        accelerate(loader)
    return str(caught.value)


def make_boxes(tv, files, *, both=None, image_only=None):
    """The shape of torchvision's tutorial: tensors in a dictionary, and transforms."""

    class Boxes(tv.data.Dataset):
        def __init__(self):
            self.files = files
            self.boxes = [[[1.5, 2.0, 9.0, 8.0]] * (index % 3) for index in range(len(files))]
            self.names = np.array([f"{index}" for index in range(len(files))])
            self.transforms = both
            self.transform = image_only

        def __len__(self):
            return len(self.files)

        def __getitem__(self, idx):
            img = Image.open(self.files[idx]).convert("RGB")
            boxes = tv.torch.as_tensor(self.boxes[idx], dtype=tv.torch.float32)
            number = tv.torch.tensor([idx])
            target = {"boxes": boxes, "image_id": number, "name": self.names[idx], "is": "new"}
            if self.transform is not None:
                img = self.transform(img)
            if self.transforms is not None:
                img, target = self.transforms(img, target)
            return img, target

    return Boxes()


def test_a_dictionary_of_tensors(tv, files):
    """Transforms are for the image, so boxes are what the Dataset says."""
    dataset = make_boxes(tv, files, image_only=tv.v1.ToTensor())
    theirs = tv.data.DataLoader(dataset, batch_size=4, collate_fn=together)
    ours = accelerate(theirs)

    assert_same_batches(ours, theirs)
    assert not ours.translation.python_steps


def test_dictionaries_in_the_default_collate(tv, files):
    """Where torch can make a batch of them, it is the same; where it cannot, so is the error."""
    resize = tv.v1.Compose([tv.v1.Resize((9, 9)), tv.v1.ToTensor()])
    dataset = make_boxes(tv, files, image_only=resize)
    theirs = tv.data.DataLoader(tv.data.Subset(dataset, [1, 4, 7, 10]), batch_size=2)
    for batch, expected in zip(accelerate(theirs), theirs, strict=True):
        assert type(batch) is type(expected)
        assert tv.torch.equal(batch[0], expected[0])
        assert_same_target(batch[1], expected[1])
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        next(iter(accelerate(tv.data.DataLoader(dataset, batch_size=2))))


def test_transforms_for_both(tv, files):
    """What they make of a dictionary is not known."""
    dataset = make_boxes(tv, files, both=tv.v2.ToImage())

    assert "`img, target = self.transforms(img, target)`: what self.tr" in reason(tv, dataset)


def test_labels_of_another_type(tv, files):
    """Made float32 by the Dataset, and so by the batch."""

    class Scores(tv.data.Dataset):
        def __init__(self):
            self.transform = tv.v1.Compose([tv.v1.Resize((9, 9)), tv.v1.ToTensor()])

        def __len__(self):
            return len(files)

        def __getitem__(self, idx):
            image = self.transform(Image.open(files[idx]).convert("RGB"))
            return image, tv.torch.tensor(idx, dtype=tv.torch.float32)

    theirs = tv.data.DataLoader(Scores(), batch_size=5)
    for batch, expected in zip(accelerate(theirs), theirs, strict=True):
        assert batch[1].dtype == expected[1].dtype == tv.torch.float32
        assert tv.torch.equal(batch[0], expected[0])
        assert tv.torch.equal(batch[1], expected[1])


def test_a_table_of_rows(tv, files):
    """One row an object, looked up by the name of the image."""

    class Table(tv.data.Dataset):
        def __init__(self):
            rows = [(file, left) for file in files for left in (1.5, 7.0)]
            self.table = np.array(rows, dtype=[("file", "U300"), ("left", float)])
            self.names = files

        def __len__(self):
            return len(self.names)

        def __getitem__(self, idx):
            rows = self.table[self.table["file"] == self.names[idx]]
            img = Image.open(self.names[idx]).convert("RGB")
            return img, rows["left"]

    assert "`rows = self.table[self.table['file'] == self.names[idx]]`" in reason(tv, Table())


def test_a_class_made_from_coco_detection(tv, coco):
    """Its own `__getitem__` may do anything to what torchvision's gives."""
    inner = coco(wrapped=False).dataset

    class Made(type(inner)):
        def __getitem__(self, idx):
            img, target = super().__getitem__(idx)
            return img, {"annotations": target}

    made = Made.__new__(Made)
    made.__dict__.update(inner.__dict__)

    assert "`img, target = super().__getitem__(idx)`" in reason(tv, made)
