"""Twelve workers for each core, started anew in every epoch."""

import sys

import planted
from planted import torchvision, v2

from penstock.results.records import Verdict

if __name__ == "__main__":
    ops = v2.Compose([v2.RandomResizedCrop(224), *planted.TO_FLOAT])
    photos = torchvision.datasets.ImageFolder(planted.photo_folder(), ops)
    loader = planted.data_loader(photos, workers=12 * planted.CORES)
    sys.exit(planted.main(Verdict.TOO_MANY_WORKERS, loader, "emulated:5000"))
