"""The loader that `accelerate` returns: no `Loader`, but as good as one to whoever uses it."""

import copy
import inspect
import json
import subprocess
import sys

import pytest

import penstock
from penstock.analysis.subject.subject import PenstockSubject, open_subject
from penstock.errors import LoaderError
from penstock.translation.delivery import AcceleratedLoader
from tests.translation.accelerate.reading import accelerate

# Of Loader's methods.
FOR_ITS_HOLDER = {"choose_rules", "follow_order", "iteration", "preparer", "random_access"}
ABOUT_STORES = {"io"}  # which `accelerate` does not read
ABOUT_REUSE = {"reuse_counts", "reuse_cut", "reuse_forecast"}  # which `accelerate` does not offer

SCRIPT = """
import sys

import penstock
from torch.utils.data import DataLoader
from torchvision import transforms as v1
from torchvision.datasets import ImageFolder

transform = v1.Compose([v1.Resize((8, 8)), v1.ToTensor()])
loader = penstock.accelerate(DataLoader(ImageFolder(sys.argv[1], transform), batch_size=4))
for images, labels in loader:
    pass
"""


def test_it_has_all_that_a_loader_has():
    """By name, with the same arguments; those of `replica` are passed on."""
    ours = dict(inspect.getmembers(AcceleratedLoader))

    for name, member in inspect.getmembers(penstock.Loader):
        if name in FOR_ITS_HOLDER | ABOUT_REUSE | ABOUT_STORES or (
            name.startswith("_") and name not in vars(penstock.Loader)
        ):
            continue
        if name.startswith("_") and not name.startswith("__"):
            continue
        assert name in ours, name
        if inspect.isfunction(member) and not name.startswith("__") and name != "replica":
            assert inspect.signature(member).parameters == inspect.signature(ours[name]).parameters


def test_it_holds_a_loader_and_is_none(make_loader):
    assert not isinstance(accelerate(make_loader()), penstock.Loader)


def test_a_replica_gives_the_same_batches(make_loader):
    loader = accelerate(make_loader())
    batches, again = list(loader), list(loader.replica(threads=1))

    for (images, labels), (same_images, same_labels) in zip(batches, again, strict=True):
        assert images.equal(same_images)
        assert labels.equal(same_labels)


def test_analyze_takes_it_for_ours(make_loader):
    subject = open_subject(accelerate(make_loader(), threads=2))

    assert isinstance(subject, PenstockSubject)
    assert (subject.batch_size, subject.images, subject.workers) == (4, 23, 2)
    assert subject.with_batch_size(2).loader.batch_size == 2


def test_it_is_neither_copied_nor_indexed(make_loader):
    loader = accelerate(make_loader())

    with pytest.raises(LoaderError, match="cannot be pickled or copied"):
        copy.copy(loader)
    with pytest.raises(LoaderError, match="no single samples"):
        loader[0]


def test_run_finds_it_once_by_its_name(tv, folder, tmp_path):
    script, told = tmp_path / "train.py", tmp_path / "told.json"
    script.write_text(SCRIPT)
    subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "run", "--json", told, script, folder],
        check=True,
        capture_output=True,
    )
    (found,) = json.loads(told.read_text())["loaders"]

    assert found["loader"]["kind"] == "AcceleratedLoader"
    assert found["images"] == 23


def test_a_sampler_that_is_looked_at_lists_what_comes(folder, torchvision):
    """A sampler of the user's own draws anew each time it is asked: that is once per epoch."""
    torch = pytest.importorskip("torch")
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    class Own:
        def __len__(self):
            return 9

        def __iter__(self):
            return iter(torch.randperm(23)[:9].tolist())

    transform = v2.Compose([v2.Resize((8, 8)), v2.PILToTensor()])
    dataset = ImageFolder(folder, transform, target_transform=None)
    dataset.samples = [(path, number) for number, (path, _) in enumerate(dataset.samples)]
    theirs = torch.utils.data.DataLoader(dataset, batch_size=4, sampler=Own())
    loader = accelerate(theirs)
    for _ in range(2):
        listed, count = list(loader.sampler), len(loader.batch_sampler)
        came = [labels.tolist() for _, labels in loader]
        assert [label for labels in came for label in labels] == listed
        assert len(came) == count == 3
