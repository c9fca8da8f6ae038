"""A wide blur among cheap ops."""

import sys

import planted
from planted import torchvision, v2

from penstock.results.records import Verdict

if __name__ == "__main__":
    ops = [v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.GaussianBlur(31, sigma=8.0)]
    photos = torchvision.datasets.ImageFolder(
        planted.photo_folder(), v2.Compose([*ops, *planted.TO_FLOAT])
    )
    sys.exit(planted.main(Verdict.AUGMENT, planted.data_loader(photos), "emulated:5000"))
