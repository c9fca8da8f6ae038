"""A step in pure Python among native ones, of which one thread at a time can run."""

import sys

import planted
from PIL import Image

from penstock import Loader
from penstock import transforms as T
from penstock.results.records import Verdict


def posterize_by_hand(image):
    """Look up every pixel in a Python loop."""
    table = [value & 0xE0 for value in range(256)]
    return Image.frombytes("RGB", image.size, bytes([table[byte] for byte in image.tobytes()]))


if __name__ == "__main__":
    loader = Loader(
        planted.photo_folder(),
        batch_size=8,
        transform=T.Compose(
            [T.RandomResizedCrop(128), posterize_by_hand, T.ToDtype("float32", scale=True)]
        ),
    )
    sys.exit(planted.main(Verdict.INTERPRETER, loader, "emulated:5000"))
