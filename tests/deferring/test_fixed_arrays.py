"""Arrays of Pillow's memory, into which nobody may write: `np.asarray` of an image, and imageio."""

import io
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")

import PIL.Image
import torch

from penstock.deferring.array import DeferredArray
from penstock.deferring.counts import Counts, deferring, wrapped
from penstock.deferring.hooks import install
from tests.deferring.loaders import Files, same
from tests.deferring.pictures import coded, opened, picture, turned

SIZES = {"usual": (23, 17), "one pixel": (1, 1), "wide": (60, 1), "high": (1, 45)}


@pytest.fixture(autouse=True)
def _hooks():
    install()
    with wrapped:  # as while a Dataset is asked
        yield


def pair(size=(23, 17), mode="RGB"):
    """Pillow's image, and one that is not decoded yet."""
    data = coded(picture(*size, mode))
    return opened(data, deferred=False), opened(data, deferred=True)


def plain(value):
    return value.values() if type(value) is DeferredArray else value


def assert_same(found, expected):
    assert (found.dtype, found.shape, found.strides) == (
        *(expected.dtype, expected.shape, expected.strides),
    )
    assert found.flags.writeable == expected.flags.writeable
    assert found.flags["C_CONTIGUOUS"] == expected.flags["C_CONTIGUOUS"]
    found = plain(found)
    assert found.flags.writeable == expected.flags.writeable
    np.testing.assert_array_equal(found, expected)


FIXED = {
    "seen": lambda i: np.asarray(i),  # noqa: PLW0108 (looked up when it is called)
    "seen as bytes": lambda i: np.asarray(i, np.uint8),
    "in order": lambda i: np.ascontiguousarray(i),  # noqa: PLW0108 (the same)
    "a part": lambda i: np.asarray(i)[:3],
    "mirrored": lambda i: np.asarray(i)[:, ::-1],
    "turned": lambda i: np.asarray(i)[::-1, ::-1],
    "seen again": lambda i: np.asarray(np.asarray(i)),
    "not copied": lambda i: np.asarray(i).astype(np.uint8, copy=False),
    "in order again": lambda i: np.ascontiguousarray(np.asarray(i)),
    "mirrored by name": lambda i: np.fliplr(np.asarray(i)),
}
WRITABLE = {
    "copied": lambda i: np.array(i),  # noqa: PLW0108 (the same)
    "copied by name": lambda i: np.array(i, copy=True),
    "floats": lambda i: np.asarray(i, dtype=np.float32),
    "floats of a copy": lambda i: np.array(i, np.float32),
    "copy of a view": lambda i: np.array(np.asarray(i)),
    "copy": lambda i: np.asarray(i)[:, ::-1].copy(),
    "divided": lambda i: np.asarray(i) / 255.0,
    "cast": lambda i: np.asarray(i).astype(np.float32),
    "mirrored in order": lambda i: np.ascontiguousarray(np.asarray(i)[:, ::-1], np.float32),
}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("name", FIXED | WRITABLE)
def test_what_is_remembered(name, mode, size):
    theirs, ours = pair(size, mode)
    change = (FIXED | WRITABLE)[name]
    found = change(ours)
    assert type(found) is DeferredArray
    assert found.is_open
    assert_same(found, change(theirs))


def put(a):
    a[0] = 3


def put_into_part(a):
    a[1:, ::-1][0, 0] = 3


def divide(a):
    a //= 2


def add(a):
    a += 1


def add_to_floats(a):
    floats = a.astype(np.float32)
    floats += 1
    a -= np.uint8(1)


def allow(a):
    a.setflags(write=True)


def allow_by_flag(a):
    a.flags.writeable = True


def fill(a):
    a.fill(0)


def calculate_into(a):
    np.add(a, 1, out=a)


def put_by_name(a):
    np.copyto(a, 0)


@pytest.mark.parametrize(
    "change",
    [
        *(put, put_into_part, divide, add, add_to_floats, allow, allow_by_flag),
        *(fill, calculate_into, put_by_name),
    ],
)
def test_writing_is_refused_as_numpy_refuses_it(change):
    for seen in (np.asarray, lambda image: np.asarray(image)[1:, ::-1]):
        told = []
        for image in pair():
            with pytest.raises(Exception) as caught:
                change(seen(image))
            told.append((type(caught.value), str(caught.value)))
        assert told[0] == told[1]


def test_whoever_forbids_writing_is_heeded():
    for image in pair():
        array = np.array(image)
        array.flags.writeable = False
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_image_changes_apart_from_the_array():
    results = []
    for image in pair():
        array = np.asarray(image)
        image.paste(PIL.Image.new("RGB", (5, 5), (1, 2, 3)), (2, 2))
        results.append((plain(array).tobytes(), np.asarray(image).tobytes()))
    assert results[0] == results[1]


def test_torch_warns_of_such_memory_and_writes_into_it():
    told = []
    was_always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        for image in pair():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                array = np.asarray(image)
                tensor = torch.from_numpy(array)
                count = len(caught)
                tensor[0, 0] = 7
                told.append((count, str(caught[0].message), plain(array)[0, 0].tolist()))
    finally:
        torch.set_warn_always(was_always)
    assert told[0] == told[1]
    assert told[0][0] == 1


def test_tensors_of_such_arrays_wait():
    theirs, ours = pair()
    made = [
        torch.from_numpy(np.asarray(one).transpose(2, 0, 1)).float() / 255 for one in (theirs, ours)
    ]
    assert made[1].is_open
    assert torch.equal(made[1].values(), made[0])


def test_pickled_ones_may_be_written_into():
    for image in pair():
        again = pickle.loads(pickle.dumps(np.asarray(image)))  # noqa: S301 (our own)
        assert again.flags.writeable


def test_a_file_whose_pixels_are_asked_for_again_and_again_is_kept():
    image = opened(coded(picture(23, 17)), deferred=True)
    with deferring(Counts()):
        kept = []
        for _ in range(3):
            np.asarray(image).sum()
            kept.append(image.chain.source.whole is not None)
    assert kept == [False, True, True]


# ---- imageio ----


def imageio_of(data):
    iio = pytest.importorskip("imageio.v3")
    v2 = pytest.importorskip("imageio.v2")
    return {
        "v3": lambda: iio.imread(io.BytesIO(data)),
        "v3 by its plugin": lambda: iio.imread(data, plugin="pillow"),
        "v3 read-only": lambda: iio.imread(data, plugin="pillow", writeable_output=False),
        "v3 in gray": lambda: iio.imread(data, plugin="pillow", mode="L"),
        "v3 turned": lambda: iio.imread(data, plugin="pillow", rotate=True),
        "v2": lambda: v2.imread(io.BytesIO(data)),
        "v2 in colour": lambda: v2.imread(io.BytesIO(data), pilmode="RGB"),
    }


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", imageio_of(b""))
@pytest.mark.filterwarnings("ignore:.*pilmode:DeprecationWarning")
def test_imageio(name, orientation):
    read = imageio_of(coded(picture(23, 17), exif=turned(orientation)))[name]
    expected = read()
    counts = Counts()
    with deferring(counts):
        found = read()
    assert type(expected) is np.ndarray
    assert counts.deferred == 1
    is_turned = name == "v3 turned" and orientation > 4
    assert (type(found) is DeferredArray and found.is_open) or is_turned
    assert_same(found, expected)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "TIFF", "BMP", "WEBP"])
def test_other_files_of_imageio_are_as_before(kind):
    read = imageio_of(coded(picture(23, 17), kind))["v3"]
    expected = read()
    with deferring(Counts()):
        found = read()
    assert_same(found, expected)


class ByImageio(Files):
    """Pictures as imageio reads them."""

    def __getitem__(self, index):
        iio = pytest.importorskip("imageio.v3")
        image = iio.imread(self.files[index])[2:14, 1:13]
        image = np.ascontiguousarray(image[:, ::-1].transpose(2, 0, 1))
        return torch.from_numpy(image).float() / 255


class BySeeing(Files):
    """Pictures that are seen as arrays, and collated as they are."""

    def __getitem__(self, index):
        image = self.image(index).resize((11, 9))
        return np.asarray(image), (np.asarray(image) / 255.0).astype(np.float32), index


@pytest.mark.parametrize("dataset", [ByImageio, BySeeing])
@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_the_same(dataset, files, workers):
    pytest.importorskip("imageio")
    same(dataset, files, num_workers=workers, shuffle=True)
