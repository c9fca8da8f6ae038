"""Loaders that Accelerate has prepared, and what comes of them."""

from pathlib import Path

from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration

from penstock import transforms as T
from penstock.torch import DataLoader, Dataset, keep_native

RANDOM = T.Compose([T.RandomResizedCrop(8), T.ToDtype("float32", scale=True)])
SEED = 4


def make_dataset(folder, transform=RANDOM, seed=SEED):
    """A data set whose labels are the numbers of samples."""
    files = sorted(Path(folder).rglob("*.jpg"))
    return Dataset(files, labels=range(len(files)), transform=transform, seed=seed)


def make_accelerator(project=None, **options):
    """An Accelerator on the CPU."""
    config = DataLoaderConfiguration(**options)
    return Accelerator(cpu=True, dataloader_config=config, project_dir=project)


def prepare(accelerator, dataset, *, native, batch_size=2, shuffle=True, **options):
    """A prepared loader, with our threads inside or as Accelerate leaves it; and the loader."""
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, **options)
    prepared = accelerator.prepare(loader)
    if native:
        keep_native(prepared, loader)
        accelerator.register_for_checkpointing(prepared)
    return prepared, loader


def noted(batches):
    """The samples of each batch, and the sum of each one's pixels, which tells draws apart."""
    return [[labels.tolist(), images.flatten(1).sum(1).tolist()] for images, labels in batches]
