"""OpenCV's functions give the same pixels, whether an image is decoded or not."""

import itertools

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("cv2")

import cv2
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from penstock._core import Effect
from penstock.deferring import opencv_changes
from penstock.deferring.array import DeferredArray
from penstock.deferring.carry_out import pixels_of
from penstock.deferring.chain import Chain
from penstock.deferring.counts import Counts, deferring, wrapped
from penstock.deferring.hooks import install
from penstock.deferring.opencv_changes import Change
from penstock.deferring.values import levels_as
from tests.deferring.loaders import Files, loaders, same
from tests.deferring.pictures import coded, picture, turned

SIDES = (1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 130, 500, 1100)
RNG = np.random.default_rng(0)
COLOUR = cv2.IMREAD_COLOR
FLAGS = {
    "colour": cv2.IMREAD_COLOR,
    "rgb": cv2.IMREAD_COLOR_RGB,
    "unchanged": cv2.IMREAD_UNCHANGED,
    "gray": cv2.IMREAD_GRAYSCALE,
    "gray as it lies": cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION,
    "as it lies": cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION,
    "smaller": cv2.IMREAD_REDUCED_COLOR_2,
    "any depth": cv2.IMREAD_ANYDEPTH,
}
FILES = {
    "rgb": coded(picture(23, 17)),
    "gray": coded(picture(23, 17, "L")),
    **{f"sampled {n}": coded(picture(61, 47), subsampling=n) for n in range(3)},
    "arithmetic sizes": coded(picture(16, 8), quality=30),
    "progressive": coded(picture(61, 47), progressive=True),
    "cmyk": coded(picture(23, 17, "CMYK")),
    "png": coded(picture(23, 17), "PNG"),
    "cut short": coded(picture(61, 47))[:-300],
    "nothing": b"",
    "text": b"no image",
    **{f"turned {n}": coded(picture(23, 17), exif=turned(n)) for n in range(1, 9)},
}


@pytest.fixture(autouse=True)
def _hooks():
    install()
    with wrapped:  # as while a Dataset is asked
        yield


def assert_equal(found, expected):
    if expected is None:
        assert found is None
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", FILES)
def test_files_are_read_as_opencv_reads_them(name, flags, tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(FILES[name])
    expected = cv2.imread(str(path), FLAGS[flags])
    with deferring(Counts()):
        found = cv2.imread(str(path), FLAGS[flags])
        again = cv2.imread(path, flags=FLAGS[flags])
        assert_equal(found, expected)
        assert_equal(again, expected)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("name", [name for name in FILES if name != "nothing"])
def test_bytes_are_read_as_opencv_reads_them(name, flags):
    data = np.frombuffer(FILES[name], np.uint8)
    expected = cv2.imdecode(data, FLAGS[flags])
    with deferring(Counts()):
        assert_equal(cv2.imdecode(data, FLAGS[flags]), expected)


def outcome(path):
    try:
        found = cv2.imread(str(path))
        return None if found is None else (found.shape, found.tobytes())
    except Exception as error:
        return str(error)


def test_odd_files_are_read_as_opencv_reads_them(tough):
    different = []
    for path in tough:
        expected = outcome(path)
        counts = Counts()
        with deferring(counts):
            found = outcome(path)
        is_asked_again = counts.error is not None
        if not is_asked_again and found != expected:
            different.append(path.name)

    assert different == []


def test_what_is_not_there_is_none():
    with deferring(Counts()):
        assert cv2.imread("no such file.jpg") is None


def test_outside_of_datasets_arrays_are_ordinary():
    assert type(cv2.imdecode(np.frombuffer(FILES["rgb"], np.uint8), COLOUR)) is np.ndarray


FILTERS = {2: cv2.INTER_LINEAR, 0: cv2.INTER_NEAREST, 4: cv2.INTER_AREA}
sides = st.integers(1, 90)


@given(st.tuples(sides, sides), st.tuples(sides, sides), st.integers(0, 2**32 - 1))
def test_resizes_of_parts(before, after, seed):
    """Only what a part needs is computed, and it has the bits of the whole."""
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (*before, 3), dtype=np.uint8)
    top, left = (int(rng.integers(0, side)) for side in after)
    height, width = (
        int(rng.integers(1, side - start + 1))
        for side, start in zip(after, (top, left), strict=True)
    )
    for number, interpolation in FILTERS.items():
        expected = cv2.resize(pixels, after[::-1], interpolation=interpolation)
        chain = Chain.of_pixels(pixels)
        if before != after:
            chain = chain.resize(*after, number, 3)
        found = chain.crop(top, left, height, width).flip(horizontal=True, vertical=True)

        part = expected[top : top + height, left : left + width]
        np.testing.assert_array_equal(pixels_of(found), part[::-1, ::-1])


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("number", [2, 4])
def test_resizes_with_every_instruction_set(isa, channels, number):
    """Widths around those of vectors, and ratios that need each way to fetch samples."""
    for before, after in itertools.product(SIDES, SIDES):
        pixels = RNG.integers(0, 256, (5, before, channels), dtype=np.uint8)
        expected = cv2.resize(pixels, (after, 4), interpolation=FILTERS[number])
        expected = expected.reshape(4, after, channels)
        three = np.ascontiguousarray(np.broadcast_to(pixels, (5, before, 3)))
        found = pixels_of(Chain.of_pixels(three).resize(4, after, number, 3))

        np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(((480, 640), (224, 224)), ((500, 375), (149, 224)), ((99, 75), (33, 25))),
        *(((64, 48), (32, 24)), ((100, 75), (50, 25)), ((640, 480), (320, 320))),
        *(((1, 300), (1, 7)), ((300, 1), (7, 1)), ((224, 224), (223, 223)), ((9, 9), (5, 9))),
        *(((7, 5), (9, 3)), ((3, 3), (11, 64)), ((600, 600), (3, 3)), ((1, 1), (5, 4))),
    ],
)
@pytest.mark.parametrize("channels", [1, 3])
def test_areas(isa, before, after, channels):
    """Whole ratios, halves, others, and images that grow along an axis."""
    pixels = RNG.integers(0, 256, (*before, channels), dtype=np.uint8)
    expected = cv2.resize(pixels, after[::-1], interpolation=cv2.INTER_AREA)
    three = np.ascontiguousarray(np.broadcast_to(pixels, (*before, 3)))
    found = pixels_of(Chain.of_pixels(three).resize(*after, 4, 3))

    expected = expected.reshape(*after, channels)
    np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape))


def test_all_colours_are_gray_as_opencv_has_them(isa):
    levels = np.arange(256, dtype=np.uint8)
    for red in levels[::5]:
        plane = np.stack(np.broadcast_arrays(red, levels[:, None], levels), axis=-1)
        chain = Chain.of_pixels(np.ascontiguousarray(plane)).apply(Effect.OPENCV_GRAYSCALE)
        expected = cv2.cvtColor(np.ascontiguousarray(plane), cv2.COLOR_RGB2GRAY)
        np.testing.assert_array_equal(pixels_of(chain)[..., 0], expected)


CALLS = {
    "by halves": lambda a: cv2.resize(a[:16, :22], None, fx=0.5, fy=0.5),
    "by factors that fit": lambda a: cv2.resize(a, (0, 0), fx=2, fy=3.0),
    "area": lambda a: cv2.resize(a, (9, 7), interpolation=cv2.INTER_AREA),
    "half an area": lambda a: cv2.resize(a[:16, :22], (11, 8), interpolation=cv2.INTER_AREA),
    "a larger area": lambda a: cv2.resize(a, (40, 7), interpolation=cv2.INTER_AREA),
    "gray": lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2GRAY),
    "gray of red first": lambda a: cv2.cvtColor(a[..., ::-1].copy(), cv2.COLOR_RGB2GRAY),
    "gray by mistake": lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY),
    "a gray part": lambda a: cv2.cvtColor(a[2:, 3:-4], cv2.COLOR_BGR2GRAY)[:, ::-1],
    "gray and smaller": lambda a: cv2.resize(cv2.cvtColor(a, cv2.COLOR_BGR2GRAY), (9, 7)),
    "a quarter turn": lambda a: cv2.rotate(a, cv2.ROTATE_90_CLOCKWISE),
    "a quarter turn back": lambda a: cv2.rotate(a[3:, ::-1], cv2.ROTATE_90_COUNTERCLOCKWISE),
    "a gray turn": lambda a: cv2.rotate(cv2.cvtColor(a, cv2.COLOR_BGR2GRAY), 0),
    "turned over": lambda a: cv2.transpose(a),  # noqa: PLW0108 (looked up when it is called)
    "turned and smaller": lambda a: cv2.resize(cv2.rotate(a, 2), (9, 7)),
    "resize": lambda a: cv2.resize(a, (9, 31)),
    "resize, named": lambda a: cv2.resize(a, dsize=(9, 31), interpolation=cv2.INTER_LINEAR),
    "twice as large": lambda a: cv2.resize(a, (46, 34)),
    "half": lambda a: cv2.resize(a[:16, :22], (11, 8)),
    "as large": lambda a: cv2.resize(a, (23, 17)),
    "nearest": lambda a: cv2.resize(a, (10, 40), interpolation=cv2.INTER_NEAREST),
    "of a mirrored part": lambda a: cv2.resize(a[3:, ::-1], (12, 8)),
    "a part of it": lambda a: cv2.resize(a, (40, 40))[3:9, ::-1],
    "colours": lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2RGB),
    "colours twice": lambda a: cv2.cvtColor(cv2.cvtColor(a, cv2.COLOR_BGR2RGB), cv2.COLOR_RGB2BGR),
    "mirrored": lambda a: cv2.flip(a, 1),
    "upside down": lambda a: cv2.flip(a, 0),
    "both": lambda a: cv2.flip(a, -1),
    "turned around": lambda a: cv2.rotate(a, cv2.ROTATE_180),
    "a border": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_CONSTANT, value=(9, 8, 7)),
    "a black border": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_CONSTANT),
    "a border of one level": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, 0, value=114),
    "edges": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_REPLICATE),
    "reflected": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_REFLECT_101),
    "mirrors": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_REFLECT),
    "a mirrored float": lambda a: cv2.flip(a / 255, 1),
}
OTHER_CALLS = {
    "by factors": lambda a: cv2.resize(a, None, fx=0.3, fy=1.7),
    "by one factor": lambda a: cv2.resize(a, None, fx=0.5, fy=0.5),
    "gray of floats": lambda a: cv2.cvtColor(a.astype(np.float32), cv2.COLOR_BGR2GRAY),
    "gray of more": lambda a: cv2.cvtColor(a + 1, cv2.COLOR_BGR2GRAY),
    "cubic": lambda a: cv2.resize(a, (9, 7), interpolation=cv2.INTER_CUBIC),
    "lanczos": lambda a: cv2.resize(a, (9, 7), interpolation=cv2.INTER_LANCZOS4),
    "of floats": lambda a: cv2.resize(a.astype(np.float32), (9, 7)),
    "into an array": lambda a: cv2.resize(a, (9, 7), dst=np.zeros((7, 9, 3), np.uint8)),
    "by name": lambda a: cv2.resize(src=a, dsize=(9, 7)),
    "hsv": lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2HSV),
    "a wide border": lambda a: cv2.copyMakeBorder(a, 40, 3, 4, 5, cv2.BORDER_REFLECT_101),
    "wrapped": lambda a: cv2.copyMakeBorder(a, 2, 3, 4, 5, cv2.BORDER_WRAP),
    "blurred": lambda a: cv2.GaussianBlur(a, (5, 5), 0),
    "split": lambda a: np.stack(cv2.split(a)),
    "merged": lambda a: cv2.merge([a[..., 0], a[..., 1]]),
    "side by side": lambda a: cv2.hconcat([a, a]),
    "warped": lambda a: cv2.warpAffine(a, np.float32([[1, 0.2, 1], [0, 1, 2]]), (20, 20)),
    "coded": lambda a: cv2.imencode(".png", a)[1],
    "added": lambda a: cv2.addWeighted(a, 0.5, a, 0.3, 1),
}


def opened():
    data = np.frombuffer(FILES["rgb"], np.uint8)
    with deferring(Counts()):
        return cv2.imdecode(data, COLOUR), cv2.imdecode(data, COLOUR).values()


@pytest.mark.parametrize("name", CALLS)
def test_what_is_remembered(name):
    ours, theirs = opened()
    found = CALLS[name](ours)

    assert type(found) is DeferredArray
    assert found.is_open
    assert_equal(found, CALLS[name](theirs))


@pytest.mark.parametrize("name", OTHER_CALLS)
def test_what_is_done_by_opencv(name):
    ours, theirs = opened()
    assert_equal(OTHER_CALLS[name](ours), OTHER_CALLS[name](theirs))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: cv2.resize(a, (0, 7)),
        lambda a: cv2.resize(a),  # noqa: PLW0108 (looked up when it is called)
        lambda a: cv2.resize(a, "size"),
        lambda a: cv2.flip(a, "x"),
        lambda a: cv2.cvtColor(a, 9999),
        lambda a: cv2.copyMakeBorder(a, -1, 0, 0, 0, 0),
    ],
)
def test_errors_are_opencvs(call):
    ours, theirs = opened()
    with pytest.raises(cv2.error) as expected:
        call(theirs)
    with pytest.raises(cv2.error) as found:
        call(ours)
    assert str(found.value) == str(expected.value)


def test_what_differs_is_left_to_opencv(monkeypatch):
    """A version that rounds otherwise would be found when it is first needed."""
    off_by_one = lambda *args: cv2.resize(*args) ^ 1  # noqa: E731
    change = Change(off_by_one, opencv_changes._resize, [((7, 5),)])
    image = DeferredArray.of_chain(
        Chain.of_pixels(RNG.integers(0, 256, (9, 9, 3), np.uint8)), levels_as(3)
    )

    assert change(image, (7, 5)) is None


class ByHand(Files):
    """Crops and flips drawn by NumPy."""

    def __getitem__(self, index):
        image = cv2.cvtColor(cv2.imread(self.files[index]), cv2.COLOR_BGR2RGB)
        top, left = np.random.randint(0, 4, 2)  # noqa: NPY002 (as people do)
        image = cv2.resize(image[top : top + 13, left : left + 12], (8, 9))
        if np.random.rand() < 0.5:  # noqa: NPY002 (the same)
            image = cv2.flip(image, 1)
        return torch.from_numpy(image).permute(2, 0, 1).float() / 255, index


class Letterbox(Files):
    """Arrays of channels last, with a border, as samples."""

    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        height, width = image.shape[:2]
        ratio = 24 / max(height, width)
        image = cv2.resize(image, (round(width * ratio), round(height * ratio)))
        below, right = 24 - image.shape[0], 24 - image.shape[1]
        image = cv2.copyMakeBorder(image, 0, below, 0, right, 0, value=(114, 114, 114))
        return {"image": image, "floats": image[..., ::-1] / 255.0, "boxes": (height, width)}


class Keeps(Files):
    """Keeps arrays, and gives a part of them."""

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = cv2.imread(self.files[index])
        image = self.cache[index]
        image[0, 0] += 1
        return image[2:10, 1:9].transpose(2, 0, 1).astype(np.float32), image[:4, :4]


class Draws(Files):
    """Draws on the image, and looks at it."""

    def __getitem__(self, index):
        image = np.ascontiguousarray(cv2.imread(self.files[index])[..., ::-1])
        cv2.rectangle(image, (1, 1), (7, 9), (255, 0, 0), 2)
        return torch.from_numpy(image[:16, :16].copy()).float().mean((0, 1)), image.mean()


class Bytes(Files):
    """Decodes what it has read."""

    def __getitem__(self, index):
        with open(self.files[index], "rb") as file:
            data = np.frombuffer(file.read(), np.uint8)
        image = cv2.resize(cv2.imdecode(data, cv2.IMREAD_COLOR_RGB), (6, 6)).astype(np.float32)
        image /= 255.0
        image -= np.array([0.4, 0.5, 0.6])
        return np.transpose(image, (2, 0, 1)), torch.tensor(image)


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("dataset", [ByHand, Letterbox, Keeps, Draws, Bytes])
def test_batches_are_the_same(dataset, files, workers):
    same(dataset, files, num_workers=workers, shuffle=True)


def test_a_damaged_file_is_opencvs_to_judge(damaged):
    same(ByHandOfWhole, damaged)


class ByHandOfWhole(Files):
    """Files that cannot be decoded are black."""

    def __getitem__(self, index):
        image = cv2.imread(self.files[index])
        if image is None:
            return torch.zeros(3, 8, 8)
        return torch.from_numpy(cv2.resize(image, (8, 8))).permute(2, 0, 1).float()


def test_nothing_is_asked_for_early(files):
    from penstock.deferring.dataset import deferral_of

    _, ours = loaders(ByHand, files)
    list(ours)
    counts = deferral_of(ours.dataset).counts

    assert counts.deferred == len(files)
    assert not counts.early
    assert not counts.again


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a,
        lambda a: a[2:, ::-1],
        lambda a: cv2.cvtColor(a, 4),
        lambda a: a.astype(np.uint8),
    ],
)
def test_images_of_arrays_are_pillows(files, change):
    expected = Image.fromarray(change(cv2.imread(files[0])))
    counts = Counts()
    with deferring(counts):
        array = change(cv2.imread(files[0]))
        found = Image.fromarray(array)
        smaller = found.resize((7, 6))
        assert not counts.early
        array[:] = 0

    assert found.tobytes() == expected.tobytes()
    assert smaller.tobytes() == expected.resize((7, 6)).tobytes()


def test_gray_images_of_arrays(files):
    data = np.frombuffer(FILES["gray"], np.uint8)
    expected = Image.fromarray(cv2.imdecode(data, cv2.IMREAD_UNCHANGED))
    with deferring(Counts()):
        found = Image.fromarray(cv2.imdecode(data, cv2.IMREAD_UNCHANGED))

    assert (found.mode, found.tobytes()) == (expected.mode, expected.tobytes())
