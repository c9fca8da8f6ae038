"""What all forms of penstock in the benchmark have in common."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import PIL
import torch

import penstock
from benchmarks.case import CENTRE, RANDOM, UINT8, Case
from penstock import Loader  # now: a name of penstock is imported when it is first used
from penstock import transforms as T

PACKED = "photos.pen"


def versions() -> dict[str, str]:
    """Return the versions of the libraries that do the work."""
    return {"penstock": penstock.__version__, "Pillow": PIL.__version__, "torch": torch.__version__}


def loader_on(data: Any, case: Case, cores: int, **options: Any) -> Iterable[tuple[Any, Any]]:
    """Return a loader on `data` with a thread for each core."""
    torch.set_num_threads(1)
    return Loader(
        data,
        batch_size=case.batch_size,
        transform=T.Compose(
            [
                *_crop(case),
                *([T.RandomHorizontalFlip()] if case.flips else []),
                *_augmentations(case),
                *([] if case.output == UINT8 else [T.Normalize(case.mean, case.std)]),
            ]
        ),
        shuffle=True,
        seed=case.seed,
        indices=np.tile(np.arange(len(case.paths)), case.repeats),
        threads=cores,
        output="torch",
        **options,
    )


def _crop(case: Case) -> list[Any]:
    if case.crop == RANDOM:
        return [T.RandomResizedCrop(case.crop_px)]
    if case.crop == CENTRE:
        return [T.Resize(case.resize_px), T.CenterCrop(case.crop_px)]
    return [T.RandomCrop(case.crop_px, padding=case.pad_px)]


def _augmentations(case: Case) -> list[T.RandAugment]:
    if not case.augment_layers:
        return []
    return [T.RandAugment(case.augment_layers, case.augment_magnitude)]


def packed_of(case: Case) -> Path:
    """Return the packed file that `write` made for this case."""
    return Path(case.written) / PACKED


def write(case: Case, folder: Path, cores: int, **options: Any) -> None:
    """Pack the images, without loss unless an option of `pack` says otherwise."""
    penstock.pack(
        list(case.paths),
        folder / PACKED,
        labels=list(case.labels),
        threads=cores,
        progress=False,
        **options,
    )


def unpack(case: Case, target: Path, cores: int) -> None:
    """Write the files again, byte for byte as they were."""
    penstock.unpack(packed_of(case), target / "files", threads=cores, progress=False)


def verify(case: Case, _target: Path, cores: int) -> None:
    """Decode every image: `penstock verify --deep`."""
    _require_intact(penstock.verify(packed_of(case), deep=True, threads=cores, progress=False))


def verify_originals(case: Case, _target: Path, cores: int) -> None:
    """Rebuild every file and compare it: `penstock verify --originals`."""
    _require_intact(penstock.verify(packed_of(case), originals=True, threads=cores, progress=False))


def _require_intact(found: Any) -> None:
    if not found.intact:
        raise ValueError(f"a file that was just packed has problems: {found}")
