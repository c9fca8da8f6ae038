"""JPEGs decoded whole for a small crop."""

import sys

import planted
from planted import torchvision, v2

from penstock.results.records import Verdict

if __name__ == "__main__":
    crop = v2.Compose([v2.RandomCrop(96, pad_if_needed=True), *planted.TO_FLOAT])
    photos = torchvision.datasets.ImageFolder(planted.photo_folder(), crop)
    sys.exit(planted.main(Verdict.DECODE, planted.data_loader(photos), "emulated:5000"))
