"""Sizes from headers: those that Pillow says, for every kind of file and data set."""

import numpy as np
import PIL.Image
import pytest

import penstock as ps
from folders import make_image
from penstock.data.image_sizes import read_file_sizes, read_image_sizes, require_sizes
from penstock.errors import DecodeError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    root = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(0)
    for number, ending in enumerate(["jpg", "png", "webp", "bmp", "tif", "jpg", "jpg"]):
        (root / "all").mkdir(exist_ok=True)
        image = make_image(rng, 20 + number, 90 - number)
        options = {"progressive": True} if number == 5 else {}
        if number == 6:  # a header longer than what is read at first, and turned by EXIF
            exif = PIL.Image.Exif()
            exif[0x0112] = 6
            exif[0x9286] = "x" * 40_000
            options = {"exif": exif}
        image.save(root / "all" / f"{number}.{ending}", **options)
    return root


def test_files_of_all_kinds(files):
    sizes = read_image_sizes(ps.open_data(files))

    assert sizes.height.tolist() == [20 + number for number in range(7)]
    assert sizes.width.tolist() == [90 - number for number in range(7)]
    assert sizes.height.dtype == np.int32
    assert sizes.known.all()


def test_packed_files_and_their_shards(files, tmp_path):
    ps.pack(files, tmp_path / "one.pen")
    sizes = read_image_sizes(ps.open_data(tmp_path / "one.pen"))
    expected = read_image_sizes(ps.open_data(files))

    np.testing.assert_array_equal(sizes.height, expected.height)
    np.testing.assert_array_equal(sizes.width, expected.width)


def test_a_source_that_opens_its_samples(files):
    whole = ps.open_data(files)

    class Archive:
        labels = classes = None

        def __len__(self):
            return len(whole)

        def open(self, index):
            return whole.open(index)

        def name(self, index):
            return whole.name(index)

        def describe(self):
            return "an archive"

    np.testing.assert_array_equal(read_image_sizes(Archive()).height, np.arange(20, 27))


def test_more_files_than_are_read_at_once(files):
    sizes = read_file_sizes([str(files / "all" / name) for name in ("0.jpg", "1.png")] * 750)

    assert sizes.height.tolist() == [20, 21] * 750


def test_what_cannot_be_read_has_no_size(files, tmp_path):
    (tmp_path / "text.jpg").write_text("no image")
    good = str(files / "all" / "0.jpg")
    sizes = read_file_sizes([good, str(tmp_path / "missing.jpg"), str(tmp_path / "text.jpg")])

    assert sizes.height.tolist() == [20, 0, 0]
    with pytest.raises(DecodeError, match=r"missing.jpg.*nor can those of 1 more\. Do this"):
        require_sizes(sizes, "Do this.")
