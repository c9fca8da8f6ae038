"""What the planted bottlenecks share: photos, a decoded data set, and the comparison."""

from __future__ import annotations

from pathlib import Path

import penstock
from penstock.analysis.measure import Effort
from penstock.demo.sample_set import cached_folder, make_sample_set
from penstock.demo.torchvision_import import import_torchvision
from penstock.usable_cores import usable_cores

torch, torchvision = import_torchvision()
v2 = torchvision.transforms.v2

CORES = usable_cores()
TO_FLOAT = (v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True))
IMAGES = 128


def photo_folder() -> Path:
    """A small set of photo-like JPEGs, made once."""
    return make_sample_set(cached_folder(IMAGES), images=IMAGES, progress=False)


def photo_paths() -> list[str]:
    return sorted(str(path) for path in photo_folder().rglob("*.jpg"))


def data_loader(dataset, *, batch_size=8, workers=CORES, **options):
    """A DataLoader as most people write it."""
    return torch.utils.data.DataLoader(
        dataset, batch_size=batch_size, shuffle=True, num_workers=workers, **options
    )


class Tensors(torch.utils.data.Dataset):
    """Images that need no work at all."""

    def __init__(self, count, side_px):
        self.image = torch.zeros(3, side_px, side_px)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.image, index


def main(expected, loader, device) -> int:
    """Analyze, and print the expected verdict beside the one that came out."""
    torch.set_num_threads(1)
    found = penstock.analyze(loader, device=device, effort=Effort(3, 0.6), sweeps=False)
    verdict = "right" if found.verdict is expected else "WRONG"
    print(f"{verdict}: expected {expected.value!r}, got {found.verdict.value!r}")
    print(f"  {found.sentence}")
    for line in found.evidence:
        print(f"    {line}")
    return 0 if found.verdict is expected else 1
