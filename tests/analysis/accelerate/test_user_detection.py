"""Detection Datasets as users write them: followed, or refused with the line that is not."""

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.errors import TranslationError


@pytest.fixture(scope="module")
def files(folder):
    return sorted(str(path) for path in folder.rglob("*.jpg"))


def together(batch):
    return tuple(zip(*batch))  # noqa: B905  as users write it


def reason(tv, dataset):
    loader = tv.data.DataLoader(dataset, batch_size=4, collate_fn=together)
    with pytest.raises(TranslationError) as caught:
        penstock.accelerate(loader)
    return str(caught.value)


def test_a_dictionary_of_tensors(tv, files):
    """The shape of torchvision's tutorial: tensors in a dictionary, transforms for both."""

    class Boxes(tv.data.Dataset):
        def __init__(self):
            self.files = files
            self.boxes = [[[1.0, 2.0, 9.0, 8.0]]] * len(files)
            self.transforms = tv.v2.ToImage()

        def __len__(self):
            return len(self.files)

        def __getitem__(self, idx):
            img = Image.open(self.files[idx]).convert("RGB")
            boxes = tv.torch.as_tensor(self.boxes[idx], dtype=tv.torch.float32)
            target = {"boxes": boxes, "image_id": idx}
            img, target = self.transforms(img, target)
            return img, target

    assert "`boxes = tv.torch.as_tensor(self.boxes[idx]," in reason(tv, Boxes())


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
