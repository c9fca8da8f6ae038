"""A data set whose files come from a disk of 2 MB/s."""

import io
import sys
import time

import planted
from PIL import Image
from planted import torch, v2

from penstock.results.records import Verdict

BYTES_PER_S = 2e6


class ThrottledFile(io.FileIO):
    def read(self, size=-1):
        content = super().read(size)
        time.sleep(len(content) / BYTES_PER_S)
        return content


class SlowDisk(torch.utils.data.Dataset):
    def __init__(self):
        self.paths = planted.photo_paths()
        self.transform = v2.Compose([v2.CenterCrop(224), *planted.TO_FLOAT])

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with ThrottledFile(self.paths[index]) as file:
            image = Image.open(io.BytesIO(file.read())).convert("RGB")
        return self.transform(image), 0


if __name__ == "__main__":
    loader = planted.data_loader(SlowDisk(), batch_size=4)
    sys.exit(planted.main(Verdict.READ, loader, "emulated:5000"))
