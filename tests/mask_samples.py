"""Images with masks for tests: the red of an image is its mask, so that both can be compared."""

import numpy as np
from PIL import Image


def label_map(seed, size, classes=21):
    """Class numbers in blocks, with 255 among them."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, classes, (-(-size[0] // 4), -(-size[1] // 4)), np.uint8)
    labels = np.repeat(np.repeat(blocks, 4, axis=0), 4, axis=1)[: size[0], : size[1]]
    labels[0] = 255
    return labels


def image_of(labels):
    """An image whose red is the mask; its other colours are noise."""
    noise = np.random.default_rng(1).integers(0, 256, (*labels.shape, 2), np.uint8)
    return Image.fromarray(np.concatenate([labels[..., None], noise], axis=2))


def palette_mask(labels):
    """A mask as VOC has it: indices into colours that are something else."""
    mask = Image.fromarray(labels)
    mask.putpalette(np.random.default_rng(2).integers(0, 256, 768, np.uint8).tolist())
    return mask


def write_pairs(root, sizes, folders=("",), images="images", masks="masks"):
    """Write pairs of files below `root`; returns their label maps in the order of their names."""
    written = {}
    for number, size in enumerate(sizes):
        labels = label_map(number, size)
        below = folders[number % len(folders)]
        for part in (images, masks):
            (root / part / below).mkdir(parents=True, exist_ok=True)
        image_of(labels).save(root / images / below / f"{number:03}.png")
        palette_mask(labels).save(root / masks / below / f"{number:03}.png")
        written[f"{below}/{number:03}"] = labels
    return [written[name] for name in sorted(written)]
