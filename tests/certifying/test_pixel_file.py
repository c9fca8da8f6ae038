"""Pixels beside a certificate: read only if they are what was certified."""

import zipfile

import numpy as np
import pytest

from certifying.certified import in_batches, make_images
from penstock import Limits, certify, make_certificate
from penstock.errors import CertifyError, OutputError

IMAGES = make_images()


@pytest.fixture
def stored(tmp_path):
    """A certificate with pixels."""
    path = tmp_path / "a.json"
    make_certificate(in_batches(IMAGES), pixels=tmp_path / "a.npz").save(path)
    return path


def changed(images):
    """The second image is other by three levels in one value."""
    other = images.copy()
    other[1, 2, 3, 4] += 3 if other[1, 2, 3, 4] < 200 else -3
    return other


def test_two_certificates_say_how_far(stored, tmp_path):
    other = tmp_path / "b.json"
    make_certificate(in_batches(changed(IMAGES)), pixels=tmp_path / "b.npz").save(other)

    found = certify(stored, other)

    assert found.counts == {"equal": 5, "differs": 1}
    assert found.images[1].difference.largest == 3
    assert found.images[1].difference.box == (4, 3, 5, 4)


def test_hashes_alone_say_that_images_differ(stored, tmp_path):
    (tmp_path / "a.npz").unlink()
    found = certify(stored, in_batches(changed(IMAGES)))

    assert found.counts == {"equal": 5, "differs, by an unknown amount": 1}
    assert "make certificates with --pixels" in found.verdict
    assert any("a.npz, is not beside its certificate" in note for note in found.notes)
    assert not certify(stored, in_batches(changed(IMAGES)), tolerance=255).passed


def test_numpy_reads_it(stored, tmp_path):
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert (np.stack([arrays[name] for name in sorted(arrays.files)]) == IMAGES).all()


def test_the_same_pixels_give_the_same_file(stored, tmp_path):
    make_certificate(in_batches(IMAGES), pixels=tmp_path / "b.npz")

    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.npz", "b.npz"]


def test_bfloat16(tmp_path):
    torch = pytest.importorskip("torch")
    batches = [torch.rand(2, 3, 4, 4).bfloat16()]
    make_certificate(batches, pixels=tmp_path / "a.npz").save(tmp_path / "a.json")
    found = certify(tmp_path / "a.json", [batches[0] + 1])

    assert found.counts == {"differs": 2}


def rewrite(path, name, content):
    """Replace one member of the file."""
    with zipfile.ZipFile(path) as old:
        members = {entry: old.read(entry) for entry in old.namelist()}
    members[name] = content
    with zipfile.ZipFile(path, "w") as new:
        for entry, stored in members.items():
            if stored is not None:
                new.writestr(entry, stored)


def array_file(array):
    from io import BytesIO

    buffer = BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


HUGE_HEADER = array_file(np.zeros((3, 5, 7), np.uint8)).replace(b"(3, 5, 7)", b"(3,5,7E)")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (array_file(changed(IMAGES)[1] + 1), "its hash is not that of the certificate"),
        (array_file(IMAGES[1].astype(np.int16)), "an array of"),
        (array_file(np.zeros((3, 5, 8), np.uint8)), "an array of"),
        (array_file(np.asfortranarray(IMAGES[1])), "an array of"),
        (array_file(IMAGES[1])[:-1], "its length is not that of the image"),
        (array_file(IMAGES[1]) + b"x", "its length is not that of the image"),
        (b"\0" * 1_000_000, "1,000,000 bytes for 105 of pixels"),
        (b"no array", "these are not the pixels"),
        (HUGE_HEADER, "these are not the pixels"),
        (None, "it is missing"),
    ],
    ids=range(10),
)
def test_pixels_that_are_not_the_certificates(stored, tmp_path, content, message):
    rewrite(tmp_path / "a.npz", "00000001.npy", content)

    with pytest.raises(CertifyError, match=r"a\.npz: image 1: these are not the pixels") as refused:
        certify(stored, in_batches(changed(IMAGES)))
    assert message in str(refused.value)


def test_a_flipped_bit_anywhere_is_noticed_or_does_not_matter(stored, tmp_path):
    """A bit of the file may be in a name, a date or a checksum; images are right or refused."""
    whole = (tmp_path / "a.npz").read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 25).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "a.npz").write_bytes(damaged)
        try:
            found = certify(stored, in_batches(changed(IMAGES)))
        except CertifyError:
            continue
        assert found.images[1].difference.largest == 3


def test_a_file_that_was_cut_short(stored, tmp_path):
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[:200])

    with pytest.raises(CertifyError, match="the pixels cannot be read"):
        certify(stored, in_batches(IMAGES))


def test_large_images_need_a_limit(stored):
    with pytest.raises(CertifyError, match="--limit record-bytes=110"):
        certify(stored, in_batches(changed(IMAGES)), limits=Limits(record_bytes=100))


def test_a_failed_run_leaves_nothing(tmp_path):
    def failing():
        yield IMAGES[:2]
        raise ValueError("no more")

    with pytest.raises(CertifyError, match="no more"):
        make_certificate(failing, pixels=tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot write the pixels"):
        make_certificate(in_batches(IMAGES), pixels=tmp_path / "none" / "a.npz")


def test_pixels_are_written_of_what_runs(stored, tmp_path):
    with pytest.raises(CertifyError, match="A is a certificate already"):
        certify(stored, in_batches(IMAGES), pixels=tmp_path / "b.npz")
