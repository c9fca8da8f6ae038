"""DataLoaders and what they become, without the trial of `accelerate`: it refuses what differs."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from PIL import Image
from torch.utils.data import DataLoader, Dataset

from penstock.translation.deferred import deferred_loader
from tests.strangers.compare import batches, difference

SEED = 5


class Files(Dataset):
    """Small tensors; each way to write a Dataset is a subclass."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = files
        self.cache: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.files)

    def image(self, index: int) -> Any:
        """Open a photo."""
        return Image.open(self.files[index]).convert("RGB")

    def tensor(self, index: int) -> Any:
        """The same as a tensor, of one size for all."""
        from torchvision.transforms import functional  # by its name here, so as others have it

        return functional.to_tensor(self.image(index).resize((8, 6)))

    def __getitem__(self, index: Any) -> Any:
        return self.tensor(index)


@dataclasses.dataclass(frozen=True)
class Sample:
    """A sample of a class of its own."""

    image: object
    index: int


def loaders(dataset: type[Files], files: Sequence[str], **options: Any) -> tuple[Any, Any]:
    """Return a DataLoader over a Dataset, and one that is accelerated."""
    options = {"batch_size": 3, **options}
    usual = DataLoader(dataset(files), **options)
    return usual, deferred_loader(DataLoader(dataset(files), **options), threads=1)


def same(
    dataset: type[Files],
    files: Sequence[str],
    *,
    each: Callable[[Any], Any] = lambda batch: batch,
    epochs: int = 2,
    **options: Any,
) -> None:
    """Assert that both give the same batches, each treated as a training would."""
    usual, ours = loaders(dataset, files, **options)
    expected = batches(Treated(usual, each), SEED, epochs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of batches that are asked for again
        found = batches(Treated(ours, each), SEED, epochs)
    assert difference(expected, found) is None


class Treated:
    """A loader whose batches are treated before the next one comes."""

    def __init__(self, loader: Any, each: Callable[[Any], Any]) -> None:
        self.loader, self.each = loader, each

    def __iter__(self) -> Iterator[Any]:
        return map(self.each, iter(self.loader))
