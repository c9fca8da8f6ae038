"""Every format holds the same samples, for our readers and for those of others."""

import io
import struct

import numpy as np
import PIL.Image
import pytest

from penstock.errors import SourceError
from penstock.experiments.experiment import UnavailableError
from penstock.experiments.formats import forms
from penstock.experiments.formats.forms import FORMS, PENSTOCK, Written, reads
from penstock.experiments.formats.loaders import Load, penstock_loader
from penstock.experiments.formats.photos import open_photos
from penstock.experiments.formats.readers import each_sample
from penstock.experiments.formats.writers import RECORD_MAGIC, framed_recordio

for module in ("google_crc32c", "h5py", "lmdb", "pyarrow"):
    pytest.importorskip(module)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Twenty samples of six photos, two of which are alike, in two folders."""
    folder = tmp_path_factory.mktemp("photos")
    for number in range(6):
        dice = np.random.default_rng(min(number, 4))
        pixels = dice.integers(0, 256, (20 + number // 5, 24, 3), np.uint8)
        place = folder / f"class{number % 2}"
        place.mkdir(exist_ok=True)
        pixels[:] = pixels[:1]  # smaller files
        PIL.Image.fromarray(pixels[:20]).save(place / f"{number}.jpg", quality=80)
    (folder / "class0" / "no.jpg").write_text("not a JPEG")
    return open_photos(folder, images=100, samples=20)


@pytest.fixture(scope="module")
def written(photos, tmp_path_factory):
    found = Written(tmp_path_factory.mktemp("written"))
    for form in FORMS:
        found.write(form, photos)
    return found


def test_distinct_photos_are_counted(photos):
    assert (len(photos.photos), photos.samples, photos.distinct) == (6, 20, 5)
    assert [sample.label for sample in photos.each()][:6] == [0, 0, 0, 1, 1, 1]


def test_fewer_photos_are_chosen_evenly(photos):
    folder = photos.photos[0].path.rsplit("/", 2)[0]
    few = open_photos(folder, images=2, samples=2)
    assert [photo.label for photo in few.photos] == [0, 1]
    assert few.digest != photos.digest


def test_a_folder_without_jpegs_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no JPEG files in it or below it"):
        open_photos(tmp_path, 1, 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [None, 1])
def test_each_form_has_the_samples(written, photos, form, seed):
    is_stream = FORMS[form].is_stream
    found = list(each_sample(form, written.path(form), is_stream=is_stream, seed=seed))
    expected = [(_plain(form, sample.data), sample.label) for sample in photos.each()]
    got = [(_plain(form, image), label) for image, label in found]

    assert sorted(got) == sorted(expected)
    if seed is None and form != "folder":  # whose order is that of names
        assert got == expected


def _plain(form, image):
    """Bytes that are equal for equal images."""
    if not FORMS[form].is_raw:
        return image
    if isinstance(image, bytes):
        image = np.asarray(PIL.Image.open(io.BytesIO(image)).convert("RGB"))
    return image.shape, image.tobytes()


@pytest.mark.parametrize("form", [form for form in FORMS if reads(PENSTOCK, form)])
def test_our_loader_reads_each_form(written, photos, form):
    """The same labels, and as many images, whatever the order of samples is."""
    loader = penstock_loader(Load(form, written.path(form), 20, 1, "none", shuffle=False))
    images, labels = next(iter(loader))

    assert tuple(images.shape) == (20, 3, 224, 224)
    assert sorted(labels.tolist()) == sorted(sample.label for sample in photos.each())


def test_a_record_with_the_mark_inside_is_cut():
    inside = b"1234" + RECORD_MAGIC + b"56" + RECORD_MAGIC
    framed = framed_recordio(inside)
    words = struct.unpack(f"<{len(framed) // 4}I", framed)

    assert [word >> 29 for word in (words[1], words[4])] == [1, 3]
    assert framed_recordio(b"ab" + RECORD_MAGIC)[4:8] == struct.pack("<I", 6)


def test_a_form_that_was_removed_is_written_again(photos, tmp_path):
    found = Written(tmp_path)
    found.ensure("recordio", photos)
    before = found.files("recordio")
    found.ensure("recordio", photos)
    assert found.files("recordio") == before
    assert found.bytes("recordio") > sum(len(sample.data) for sample in photos.each())


def test_a_library_that_is_missing_is_named(monkeypatch, photos, tmp_path):
    monkeypatch.setattr(forms, "find_spec", lambda _: None)
    with pytest.raises(UnavailableError, match=r"HDF5: h5py is not installed \(pip install h5py\)"):
        Written(tmp_path).write("hdf5", photos)
