"""LetterBox: Pillow's pixels in an even border, and boxes that follow."""

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from folders import make_image
from penstock import transforms as T
from penstock.errors import TransformError
from penstock.rng import Draws
from penstock.transforms.move_targets import move_targets
from penstock.transforms.moves import out_sizes
from penstock.transforms.targets import read_targets
from target_samples import sizes_of


def boxed(image, height, width, fill):
    """The same by Pillow alone."""
    ratio = min(height / image.height, width / image.width)
    inner = max(1, round(image.width * ratio)), max(1, round(image.height * ratio))
    whole = PIL.Image.new("RGB", (width, height), fill)
    place = (width - inner[0]) // 2, (height - inner[1]) // 2
    whole.paste(image.resize(inner, PIL.Image.Resampling.BILINEAR), place)
    return np.asarray(whole)


@pytest.mark.parametrize("size", [(64, 64), (63, 90), (31, 200)])
def test_pixels_are_pillows(tmp_path, size):
    rng = np.random.default_rng(0)
    shapes = [(64, 64), (100, 60), (33, 91), (7, 300), (1, 50), (640, 480)]
    files = []
    for number, (height, width) in enumerate(shapes):
        files.append(tmp_path / f"{number}.png")
        make_image(rng, height, width).save(files[-1])
    transform = T.LetterBox(size, fill=(10, 20, 30))
    loader = ps.Loader(files, batch_size=9, transform=transform, output="numpy", layout="hwc")
    (images,) = loader
    loader.close()

    for image, file in zip(images, files, strict=True):
        np.testing.assert_array_equal(image, boxed(PIL.Image.open(file), *size, (10, 20, 30)))


def test_an_odd_pixel_goes_right_and_below():
    _, pad = T.LetterBox((10, 10)).sample(Draws(0, 0, np.arange(2), 0), sizes_of((10, 5), (3, 10)))

    assert (pad.left.tolist(), pad.right.tolist()) == ([2, 0], [3, 0])
    assert (pad.top.tolist(), pad.bottom.tolist()) == ([0, 3], [0, 4])
    assert pad.fill == (114, 114, 114)


def test_boxes_follow():
    sizes = sizes_of((50, 100))
    moves = T.LetterBox(200).sample(Draws(0, 0, np.arange(1), 0), sizes)
    moved = move_targets(moves, read_targets([0, 1], boxes=[[10, 5, 60, 50]]), sizes)

    assert moved.boxes.tolist() == [[20, 60, 120, 150]]
    assert str(out_sizes(moves, sizes)[0]) == "200x200"


def test_images_that_fit_get_no_border():
    (resize,) = T.LetterBox(8).sample(Draws(0, 0, np.arange(2), 0), sizes_of((4, 4), (16, 16)))

    assert resize.height.tolist() == [8, 8]


def test_wrong_arguments():
    with pytest.raises(TransformError, match="LetterBox: size must be"):
        T.LetterBox(0)
    with pytest.raises(TransformError, match="LetterBox: fill"):
        T.LetterBox(8, fill="grey")
    assert repr(T.LetterBox(640)) == "LetterBox(size=640)"
