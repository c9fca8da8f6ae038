"""Images that are made of arrays, of tensors or kept by a Dataset, and what becomes of them."""

import io

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("torchvision")

from PIL import Image
from torchvision import transforms

from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from penstock.deferring.image import DeferredImage
from tests.deferring.loaders import Files, loaders, same
from tests.deferring.pictures import as_value, coded, picture

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (7, 9, 3), dtype=np.uint8)
ARRAYS = {
    "rgb": RGB,
    "one pixel": RGB[:1, :1],
    "turned around": RGB[::-1, ::2],
    "channels first": np.ascontiguousarray(RGB.transpose(2, 0, 1)).transpose(1, 2, 0),
    "read only": np.frombuffer(RGB.tobytes(), np.uint8).reshape(RGB.shape),
    "gray": RGB[:, :, 0].copy(),
    "alpha": RNG.integers(0, 256, (5, 6, 4), dtype=np.uint8),
    "16 bits": RNG.integers(0, 65536, (5, 6), dtype=np.uint16),
    "floats": RNG.random((5, 6), dtype=np.float32),
    "bits": RNG.random((5, 6)) > 0.5,
    "two channels": RNG.integers(0, 256, (5, 6, 2), dtype=np.uint8),
    "nothing": np.zeros((0, 4, 3), dtype=np.uint8),
    "no array": "no array",
}


@pytest.fixture(autouse=True)
def _hooks():
    install()


def outcome(array, *args):
    try:
        made = Image.fromarray(array, *args)
        smaller = made.resize((4, 3)).crop((0, 0, 3, 2))
        return as_value([made, smaller, made.info, made.getbands(), made == made.copy()])
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", ARRAYS)
def test_images_of_arrays(name):
    expected = outcome(ARRAYS[name])
    with deferring(Counts()):
        assert outcome(ARRAYS[name]) == expected


@pytest.mark.filterwarnings("ignore:'mode' parameter")
def test_an_image_of_a_given_mode():
    expected = outcome(RGB, "RGB")
    with deferring(Counts()):
        assert outcome(RGB, "RGB") == expected


def test_an_image_does_not_change_with_its_array():
    pixels = RGB.copy()
    with deferring(Counts()):
        image = Image.fromarray(pixels)
        pixels[:] = 0
        smaller = image.resize((4, 3))

    assert type(smaller) is DeferredImage
    assert np.array_equal(np.asarray(image), RGB)
    assert np.array_equal(smaller, Image.fromarray(RGB).resize((4, 3)))


class Arrays(Files):
    """Arrays of several sizes, photos among them."""

    transform = transforms.Compose(
        [
            transforms.RandomCrop(8, padding=2, padding_mode="reflect", pad_if_needed=True),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
        ]
    )

    def __getitem__(self, index):
        image = self.image(index)
        if index % 2:
            image = Image.fromarray(np.asarray(image)[:, ::-1])
        return self.transform(image)


@pytest.mark.parametrize("workers", [0, 1])
def test_arrays_and_photos_in_one_batch(files, workers):
    same(Arrays, files, num_workers=workers)


class Keeps(Files):
    """Opens each file once."""

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = self.image(index)
        return transforms.functional.to_tensor(self.cache[index].crop((1, 2, 9, 8)))


def test_what_a_dataset_keeps_is_decoded_once(files, monkeypatch):
    from penstock.deferring import carry_out

    same(Keeps, files, epochs=4)
    asked = []
    run = carry_out.run_here

    def counted(targets, sources, *others):
        asked.append(sum(isinstance(one, bytes) for one in sources))
        return run(targets, sources, *others)

    monkeypatch.setattr(carry_out, "run_here", counted)
    loader = loaders(Keeps, files, batch_size=len(files))[1]
    for _ in range(4):
        list(loader)

    assert asked == [len(files), len(files), 0, 0, 0]


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("padding_mode", ["constant", "edge", "reflect", "symmetric"])
def test_borders_are_remembered(mode, padding_mode):
    data = coded(picture(23, 17, mode))
    pad = transforms.Pad((1, 0, 5, 3), padding_mode=padding_mode)
    expected = pad(open_with_pillow(io.BytesIO(data)))
    counts = Counts()
    with deferring(counts):
        found = pad(Image.open(io.BytesIO(data)))
        assert type(found) is DeferredImage
        assert not counts.early

    assert as_value(found) == as_value(expected)
