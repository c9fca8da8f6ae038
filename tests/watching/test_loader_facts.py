import numpy as np
import pytest

from penstock import Loader
from penstock import transforms as T
from penstock.watching.loader_facts import count_images, read_facts
from penstock.watching.script import ScriptLoaders

IMAGES = np.zeros((5, 3, 4, 4))
IMAGE = np.zeros((3, 4, 4))


class Shapeless:
    """As torch's nested tensors are."""

    @property
    def shape(self):
        raise RuntimeError("has no shape")


@pytest.mark.parametrize(
    ("batch", "images"),
    [
        (IMAGES, 5),
        ((IMAGES, np.zeros(5)), 5),
        ([IMAGES, np.zeros(5)], 5),
        ({"pixel_values": IMAGES, "labels": np.zeros(5)}, 5),
        ([{"image": IMAGES}], 5),
        (([IMAGE, IMAGE], [{}, {}]), 2),
        ([IMAGE], 1),
        (([np.zeros((3, 4, 5)), np.zeros((3, 7, 2))], [{}, {}]), 2),
        ([np.zeros((4, 2)), 1], 4),
        ([], 0),
        ({}, 0),
        ("text", 0),
        (None, 0),
        (Shapeless(), 0),
        (np.float32(1), 0),
    ],
)
def test_images_are_counted(batch, images):
    assert count_images(batch) == images


def test_loaders_of_ours_have_no_worker_processes(folder):
    """They have the attribute for the sake of frameworks; advice about it would be wrong."""
    ours = pytest.importorskip("penstock.torch")
    loader = ours.DataLoader(ours.Dataset(folder), 4, num_workers=8, persistent_workers=True)
    for one in (loader, Loader(folder, batch_size=4)):
        facts = read_facts(one)
        assert (facts.workers, facts.keeps_workers, facts.prefetch) == (None, False, None)
        assert (facts.batch_size, facts.samples) == (4, 23)


def test_a_script_with_both_kinds_of_loader_is_timed_once_each(folder, monkeypatch):
    ours = pytest.importorskip("penstock.torch.data_loader")
    loaders = pytest.importorskip("penstock.loading.loader")
    for owner, name in (
        (ours.DataLoader, "__iter__"),
        (loaders.Loader, "__iter__"),
        (ours.Iteration, "__next__"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back afterwards
    script = ScriptLoaders(str(folder))
    script.watch_library(loaders)
    script.watch_library(ours)
    resize = T.Resize((8, 8))
    dataset = ours.Dataset(folder, transform=resize)
    for loader in (ours.DataLoader(dataset, 4), Loader(folder, batch_size=4, transform=resize)):
        assert len(list(loader)) == 6
    script.close()

    assert [int(found.times.images.sum()) for found in script.found] == [23, 23]
