import numpy as np
import PIL.Image
import pytest

import penstock
from penstock._core import Route, Storage
from penstock.data.open_data import open_data
from penstock.data.packed import PackedSource
from penstock.geometry import Sizes
from penstock.loading.look_at import _FACTORS_AT, _NEXT_FACTORS, look_at
from penstock.loading.probe import _probed

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


def test_a_record_without_sampling_factors_counts_as_a_typical_photo(files, tmp_path):
    """Found by fuzzing: a factor of 0 made costs that were no numbers."""
    path = tmp_path / "photos.pen"
    penstock.pack(files[:1], path, progress=False)
    file = open_data(path).packed.files[0]
    at = int(file.facts("offset")[0]) + _FACTORS_AT
    data = bytearray(path.read_bytes())
    data[at : at + 3 * _NEXT_FACTORS : _NEXT_FACTORS] = bytes(3)
    path.write_bytes(data)

    assert looked_at(open_data(path)).values_per_pixel.tolist() == [1.5]


def test_images_without_pixels_do_not_plan(files, tmp_path, monkeypatch):
    """A height of 0 may stand in the index of a packed file, too."""
    penstock.pack(files, tmp_path / "photos.pen", progress=False)
    monkeypatch.setattr(PackedSource, "image_size", lambda *_: (0, 40))

    _, sizes = _probed(open_data(tmp_path / "photos.pen"))

    assert sizes.height.min() > 0
