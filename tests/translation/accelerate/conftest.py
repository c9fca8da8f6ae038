"""What tests of accelerate share."""

import pytest

from tests.translation.accelerate.detection_data import write_coco, write_voc


@pytest.fixture(scope="session")
def load_arrays(tv, folder):
    """A DataLoader with Albumentations' steps between loading and ToTensorV2."""
    A = pytest.importorskip("albumentations")  # noqa: N806  as its users call it
    pytest.importorskip("cv2")
    from albumentations.pytorch import ToTensorV2

    import albumentations_data

    generated = sorted(str(path) for path in folder.rglob("*.jpg"))

    def make(*steps, kind="ByPillow", compose=A.Compose, end=True, files=generated, **options):
        transform = compose([*steps, *([ToTensorV2()] if end else [])])
        dataset = getattr(albumentations_data, kind)(files, transform)
        return tv.data.DataLoader(dataset, **{"batch_size": 4, **options})

    return make


@pytest.fixture(scope="session")
def tv(torchvision):
    """Torchvision's names, the older transforms as `v1`."""
    from types import SimpleNamespace

    import torch
    from torch.utils import data
    from torchvision import transforms as v1
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    return SimpleNamespace(torch=torch, data=data, v1=v1, v2=v2, ImageFolder=ImageFolder)


@pytest.fixture(scope="session")
def make_loader(tv, folder):
    """A DataLoader over the generated folder, with steps between a crop and a tensor."""

    def make(*steps, transform=None, **options):
        v1 = tv.v1
        transform = transform or v1.Compose([v1.RandomCrop(32), *steps, v1.ToTensor()])
        return tv.data.DataLoader(
            tv.ImageFolder(str(folder), transform), **{"batch_size": 4, **options}
        )

    return make


@pytest.fixture(scope="module")
def coco(tv, folder, tmp_path_factory):
    """A maker of DataLoaders over CocoDetection, in torchvision's wrapper unless told otherwise."""
    pytest.importorskip("pycocotools")
    from torchvision.datasets import CocoDetection

    file = tmp_path_factory.mktemp("coco") / "instances.json"
    write_coco(folder, file)
    return _maker(tv, lambda **given: CocoDetection(str(folder), str(file), **given))


@pytest.fixture(scope="module")
def voc(tv, folder, tmp_path_factory):
    """A maker of DataLoaders over VOCDetection, in torchvision's wrapper unless told otherwise."""
    from torchvision.datasets import VOCDetection

    root = tmp_path_factory.mktemp("voc")
    write_voc(folder, root)
    return _maker(tv, lambda **given: VOCDetection(str(root), "2012", "train", **given))


def _maker(tv, open_dataset):
    from torchvision.datasets import wrap_dataset_for_transforms_v2

    def make(transforms=None, *, wrapped=True, keys=None, given=None, only=None, **options):
        dataset = open_dataset(transforms=transforms, **(given or {}))
        dataset = wrap_dataset_for_transforms_v2(dataset, keys) if wrapped else dataset
        dataset = dataset if only is None else tv.data.Subset(dataset, only)
        together = {"collate_fn": lambda batch: tuple(zip(*batch)), "batch_size": 4}  # noqa: B905
        return tv.data.DataLoader(dataset, **{**together, **options})

    return make
