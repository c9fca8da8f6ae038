"""One worker on a machine with more cores."""

import sys

import planted
from planted import torchvision, v2

from penstock.results.records import Verdict

if __name__ == "__main__":
    ops = v2.Compose([v2.RandomResizedCrop(224), *planted.TO_FLOAT])
    photos = torchvision.datasets.ImageFolder(planted.photo_folder(), ops)
    loader = planted.data_loader(photos, workers=1)
    sys.exit(planted.main(Verdict.WORKERS, loader, "emulated:5000"))
