import time

import pytest
from PIL import Image

from penstock.analysis.subject.subject import open_subject
from penstock.costs.dataset_costs import measure_dataset

torch = pytest.importorskip("torch")


def measure_costs(dataset, collate, batch_size, seconds):
    found = measure_dataset(dataset, 64, seconds=seconds, collate=collate, batch_size=batch_size)
    return found.costs


@pytest.fixture(scope="module")
def photos(tmp_path_factory, photo):
    folder = tmp_path_factory.mktemp("photos") / "all"
    folder.mkdir()
    for number in range(8):
        Image.fromarray(photo).save(folder / f"{number}.jpg", quality=95)
    return folder.parent


def nap(image):
    time.sleep(0.005)
    return image


def folder_with(torchvision, photos, *ops):
    v2 = torchvision.transforms.v2
    transform = v2.Compose([*ops, v2.PILToTensor()])
    return torchvision.datasets.ImageFolder(photos, transform)


def test_every_op_is_timed(torchvision, photos):
    v2 = torchvision.transforms.v2
    dataset = folder_with(torchvision, photos, v2.CenterCrop(64), nap, v2.CenterCrop(64))
    costs = measure_costs(dataset, torch.utils.data.default_collate, 4, seconds=0.2)

    found = {part.name: part for part in costs.parts}
    assert {"decode", "CenterCrop", "CenterCrop (2)", "nap", "PILToTensor", "collate"} <= set(found)
    assert found["nap"].seconds > 0.004
    assert found["nap"].runs_in == "Python"
    assert found["nap"].note.startswith("asleep")
    assert found["CenterCrop"].runs_in == "Pillow"
    assert found["decode"].seconds > found["CenterCrop"].seconds


def test_transforms_and_decoders_are_left_as_they_were(torchvision, photos):
    dataset = folder_with(torchvision, photos, nap)
    ops, load = list(dataset.transform.transforms), Image.open
    measure_costs(dataset, torch.utils.data.default_collate, 4, seconds=0.05)

    assert list(dataset.transform.transforms) == ops
    assert Image.open is load


def test_sleeping_data_set_waits_for_data():
    class Slow(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            time.sleep(0.005)
            return torch.zeros(3, 4, 4)

    costs = measure_costs(Slow(), torch.utils.data.default_collate, 4, seconds=0.1)

    assert costs.of("read") > 0.004 > costs.cpu_s


def test_iterable_data_set_and_function_as_transform():
    class Stream(torch.utils.data.IterableDataset):
        def __init__(self):
            self.transform = nap

        def __iter__(self):
            for _ in range(4):
                yield self.transform(torch.zeros(3, 4, 4))

    dataset = Stream()
    costs = measure_costs(dataset, torch.utils.data.default_collate, 2, seconds=0.1)

    assert costs.longest.name == "nap"
    assert dataset.transform is nap


def test_loader_is_made_again_with_other_workers(torchvision, photos):
    v2 = torchvision.transforms.v2
    dataset = torch.utils.data.Subset(folder_with(torchvision, photos, v2.CenterCrop(8)), range(6))
    given = torch.utils.data.DataLoader(dataset, batch_size=2, num_workers=0)
    subject = open_subject(given)
    with subject.open(2) as loader:
        assert loader.num_workers == 2
        assert len(list(loader)) == 3

    assert subject.worker_kind == "processes"
    assert (subject.images, subject.batch_size, subject.in_flight(2)) == (6, 2, 4)
    assert len(subject.files()) == 8


def test_layers_are_changed_in_a_copy(torchvision, photos):
    v2 = torchvision.transforms.v2
    augment = v2.RandAugment(num_ops=2)
    dataset = folder_with(torchvision, photos, v2.CenterCrop(8), augment)
    subject = open_subject(torch.utils.data.DataLoader(dataset, batch_size=2))

    assert subject.with_layers(3)._dataset.transform.transforms[1].num_ops == 3
    assert augment.num_ops == 2


def test_no_layers_or_sizes_without_a_place_for_them(torchvision, photos):
    dataset = torchvision.datasets.ImageFolder(photos, nap)
    subject = open_subject(torch.utils.data.DataLoader(dataset))

    assert subject.with_layers(1) is None
    assert subject.with_size(2.0) is None


def test_albumentations_ops_are_timed(photos):
    albumentations = pytest.importorskip("albumentations")
    import numpy as np

    class Photos(torch.utils.data.Dataset):
        def __init__(self):
            self.augment = albumentations.Compose([albumentations.HorizontalFlip(p=1.0)])

        def __len__(self):
            return 4

        def __getitem__(self, index):
            return self.augment(image=np.zeros((8, 8, 3), np.uint8))["image"]

    costs = measure_costs(Photos(), torch.utils.data.default_collate, 2, seconds=0.1)

    assert "HorizontalFlip" in {part.name for part in costs.parts}


def test_the_rest_of_a_data_set_is_its_own_code_and_collate_says_whose_it_is():
    class Own(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.as_tensor(sum(range(20_000)))

    costs = measure_costs(Own(), list, 4, seconds=0.05)

    kinds = {part.name: (part.kind, part.runs_in) for part in costs.parts}
    assert kinds["the data set's own code"] == ("own", "Python")
    assert kinds["collate"] == ("collate", "Python")
    assert not [part for part in costs.parts if part.kind == "augment"]
