"""An accelerator that any pipeline can feed."""

import sys

import planted
from planted import torchvision, v2

from penstock.results.records import Verdict

if __name__ == "__main__":
    ops = v2.Compose([v2.RandomResizedCrop(96), *planted.TO_FLOAT])
    photos = torchvision.datasets.ImageFolder(planted.photo_folder(), ops)
    loader = planted.data_loader(photos, batch_size=2, persistent_workers=True)
    sys.exit(planted.main(Verdict.ACCELERATOR, loader, "emulated:20"))
