"""A torch DataLoader under analysis."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from penstock.analysis.subject.subject import Subject, WorkerKind
from penstock.costs.costs import Costs
from penstock.costs.dataset_costs import measure_dataset
from penstock.costs.ops import chain, is_dataset, list_composes, single_ops
from penstock.costs.plan_variants import scaled
from penstock.costs.slow_files import SlowFiles, slow_files_of_dataset
from penstock.usable_cores import library_threads

_FILES_LOOKED_AT = 512
_LEAST_SAMPLES = 64
_TO_TENSOR = {"ToTensor", "PILToTensor", "ToImage"}


class TorchSubject(Subject):
    """Makes the DataLoader anew with other workers or transforms; the user's stays as it is."""

    worker_kind: WorkerKind = "processes"

    def __init__(self, loader: Any, dataset: Any = None, batch_size: int | None = None) -> None:
        self.loader = loader
        self._dataset = loader.dataset if dataset is None else dataset
        self._other_batch_size = batch_size
        self.workers: int = loader.num_workers
        self.keeps_workers: bool = loader.persistent_workers
        self.images = _length(self._dataset)
        self.batch_size: int = batch_size or loader.batch_size or _batch_size(loader)
        name = type(_innermost(self._dataset)).__name__
        self.title = (
            f"DataLoader({name} of {self.images:,} images, batch_size={self.batch_size}, "
            f"num_workers={self.workers})"
        )

    def in_flight(self, workers: int | None = None) -> int:
        """Batches that all workers together prepare ahead."""
        workers = self.workers if workers is None else workers
        return workers * (self.loader.prefetch_factor or 2)

    @contextmanager
    def open(self, workers: int | None = None) -> Iterator[Iterable[Any]]:
        """Make the loader again."""
        with warnings.catch_warnings():
            # torch warns of workers beyond the cores; here that is what is measured.
            warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)
            yield self._remake(self.workers if workers is None else workers)

    def with_batch_size(self, images: int) -> TorchSubject | None:
        """Return a copy with other batches; None where somebody's own sampler makes them."""
        if self.loader.batch_size is None:
            return None
        return TorchSubject(self.loader, self._dataset, images)

    def costs(self, seconds: float) -> Costs | None:
        """Take items of the data set one after the other, and time what is done to them."""
        return measure_dataset(
            self._dataset,
            max(self.batch_size, _LEAST_SAMPLES),
            seconds=seconds,
            collate=self.loader.collate_fn,
            batch_size=self.batch_size,
        ).costs

    def files(self) -> Sequence[str]:
        """Return the files of an ImageFolder or the like."""
        samples = self._samples()
        return _names(samples[:: max(1, len(samples) // _FILES_LOOKED_AT)])

    def stored_in(self, most: int) -> Sequence[str]:
        """Return the files of an ImageFolder or the like."""
        samples = self._samples()
        return _names(samples) if len(samples) <= most else ()

    def with_layers(self, layers: int) -> TorchSubject | None:
        """Return a copy whose RandAugment has this many layers; it is added where there is none.

        None if there is no place to add it.
        """

        def set_layers(op: Any) -> bool:
            is_found = type(op).__name__ == "RandAugment" and hasattr(op, "num_ops")
            if is_found:
                op.num_ops = layers
            return is_found

        return self._changed(set_layers, lambda dataset: _add_rand_augment(dataset, layers))

    def with_size(self, factor: float) -> TorchSubject | None:
        """Return a copy whose crops and resizes give `factor` times the size; None without any."""
        return self._changed(lambda op: _scale_sizes(op, factor))

    def with_order(self, pipeline: Any, numbers: Sequence[int]) -> TorchSubject:
        """Return a copy in which a list of transforms, `pipeline`, is in another order."""
        place = [one is pipeline for one in list_composes(self._dataset)].index(True)
        dataset = copy.deepcopy(self._dataset)
        owner = list_composes(dataset)[place]
        ops = list(single_ops(owner))
        owner.transforms = [ops[number] for number in numbers]
        return TorchSubject(self.loader, dataset, self._other_batch_size)

    def _changed(
        self, change: Callable[[Any], bool], otherwise: Callable[[Any], bool] = lambda _: False
    ) -> TorchSubject | None:
        """Return a copy with every op changed that can be; else with the whole data set changed."""
        dataset = copy.deepcopy(self._dataset)
        changed = [change(op) for owner in list_composes(dataset) for op in owner.transforms]
        if any(changed) or otherwise(dataset):
            return TorchSubject(self.loader, dataset, self._other_batch_size)
        return None

    def slowest_files(self) -> SlowFiles:
        """Fetch some samples one by one; nothing for data that has no order."""
        if not is_dataset(self._dataset) or not self.images:
            return ()
        with library_threads(1):
            return slow_files_of_dataset(self._dataset)

    def _samples(self) -> Sequence[Any]:
        samples = getattr(_innermost(self._dataset), "samples", ())
        return samples if isinstance(samples, Sequence) else ()

    def _remake(self, workers: int) -> Any:
        given = self.loader
        options: dict[str, Any] = {
            "num_workers": workers,
            "collate_fn": given.collate_fn,
            "pin_memory": given.pin_memory,
            "worker_init_fn": given.worker_init_fn,
            "generator": given.generator,
        }
        if workers:
            options |= {
                "multiprocessing_context": given.multiprocessing_context,
                "prefetch_factor": given.prefetch_factor,
                "persistent_workers": given.persistent_workers,
                "timeout": given.timeout,
            }
        size = self._other_batch_size
        if given.batch_sampler is None or not is_dataset(self._dataset):
            options |= {"batch_size": size or given.batch_size, "drop_last": given.drop_last}
        elif size is None:
            options["batch_sampler"] = given.batch_sampler
        else:
            options |= {"batch_size": size, "sampler": given.sampler, "drop_last": given.drop_last}
        return import_module("torch.utils.data").DataLoader(self._dataset, **options)


def _add_rand_augment(dataset: Any, layers: int) -> bool:
    """Put torchvision's RandAugment before the op that makes a tensor of the image."""
    for owner in list_composes(dataset):
        for place, op in enumerate(owner.transforms):
            module = type(op).__module__
            if type(op).__name__ in _TO_TENSOR and module.startswith("torchvision.transforms"):
                family = "torchvision.transforms" + (".v2" if ".v2" in module else "")
                added = import_module(family).RandAugment(num_ops=layers)
                ops = list(owner.transforms)
                owner.transforms = [*ops[:place], added, *ops[place:]]
                return True
    return False


def _scale_sizes(op: Any, factor: float) -> bool:
    """Change the sizes of a crop or resize; tell whether the op is one that has any."""
    if not type(op).__name__.endswith(("Crop", "Resize")):
        return False
    sizes = {name: getattr(op, name, None) for name in ("size", "max_size", "height", "width")}
    given = {name: size for name, size in sizes.items() if isinstance(size, (int, list, tuple))}
    for name, size in given.items():
        setattr(op, name, scaled(size, factor))
    return bool(given)


def _innermost(dataset: Any) -> Any:
    return list(chain(dataset))[-1]


def _names(samples: Sequence[Any]) -> list[str]:
    firsts = (row[0] if isinstance(row, tuple) else row for row in samples)
    return [name for name in firsts if isinstance(name, str)]


def _length(dataset: Any) -> int:
    return len(dataset) if hasattr(dataset, "__len__") else 0


def _batch_size(loader: Any) -> int:
    return int(getattr(loader.batch_sampler, "batch_size", 0) or 1)
