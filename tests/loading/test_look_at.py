import numpy as np
import PIL.Image
import pytest

import penstock
from penstock._core import Route, Storage
from penstock.data.open_data import open_data
from penstock.geometry import Sizes
from penstock.loading.look_at import look_at

KINDS = {
    "full.jpg": {"subsampling": "4:4:4"},
    "half.jpg": {"subsampling": "4:2:2"},
    "quarter.jpg": {"subsampling": "4:2:0"},
    "slow.jpg": {"subsampling": "4:2:0", "progressive": True},
    "zgray.jpg": {},
    "zpng.png": {},
}


@pytest.fixture
def files(photo, tmp_path):
    image = PIL.Image.fromarray(photo)
    paths = [tmp_path / name for name in KINDS]
    for path, options in zip(paths, KINDS.values(), strict=True):
        (image.convert("L") if "gray" in path.name else image).save(path, **options)
    return paths


def looked_at(source):
    every = np.arange(len(source), dtype=np.int64)
    sizes = Sizes(np.full(len(source), 333), np.full(len(source), 500))
    return look_at(source, every, sizes)


def test_headers_of_files_say_how_they_are_decoded(files):
    found = looked_at(open_data(files))

    assert found.are_files
    assert found.values_per_pixel[:5].tolist() == [3.0, 2.0, 1.5, 1.5, 1.0]
    assert found.routes.tolist() == [
        *[Route.BASELINE] * 3,
        Route.LIBJPEG,
        Route.BASELINE,
        Route.PILLOW,
    ]
    assert found.encoded_bytes.tolist() == [path.stat().st_size for path in files]


def test_records_of_a_packed_file_say_the_same(files, tmp_path):
    penstock.pack(files, tmp_path / "photos.pen", progress=False)
    found = looked_at(open_data(tmp_path / "photos.pen"))

    assert not found.are_files
    assert found.values_per_pixel[:5].tolist() == [3.0, 2.0, 1.5, 1.5, 1.0]
    assert (found.storages[:3] == Storage.DCT).all()
    assert found.storages[5] in (Storage.RAW, Storage.DEFLATED)
    assert (found.encoded_bytes > 1_000).all()


def test_a_file_that_is_gone_counts_as_a_typical_photo(files):
    source = open_data(files)
    files[0].unlink()

    found = looked_at(source)

    assert found.values_per_pixel[0] == 1.5
    assert found.routes[0] == Route.BASELINE
