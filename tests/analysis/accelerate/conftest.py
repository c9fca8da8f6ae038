"""What tests of accelerate share."""

import pytest


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
