"""Certificates: the same run gives the same bytes, and whatever was changed is noticed."""

import json

import numpy as np
import pytest

from certifying.certified import NamedFiles, in_batches, make_images
from penstock import Certificate, certify, make_certificate
from penstock.errors import CertifyError, OutputError

IMAGES = make_images()
NAMES = [f"cat/{number}.jpg" for number in range(len(IMAGES))]


@pytest.fixture
def written(tmp_path):
    """A certificate with names and labels, as text and as a file."""
    path = tmp_path / "a.json"
    make_certificate(NamedFiles(IMAGES, NAMES), seed=3, epoch=2).save(path)
    return path


def test_a_run_gives_the_same_bytes(written, tmp_path):
    again = tmp_path / "b.json"
    make_certificate(NamedFiles(IMAGES, NAMES), seed=3, epoch=2).save(again)

    assert written.read_bytes() == again.read_bytes()
    assert Certificate.read(written).to_text() == written.read_text("utf-8")


def test_what_it_says(written):
    said = json.loads(written.read_text("utf-8"))

    assert (said["format"], said["version"]) == ("penstock certificate", 1)
    assert (said["seed"], said["epoch"], said["asked"]) == (3, 2, 256)
    assert said["reproducible"] is True
    assert {"penstock", "Python", "numpy"} <= said["versions"].keys()
    assert "penstock" in said["cpu"]
    assert said["images"][1]["name"] == "cat/1.jpg"
    assert said["images"][1]["shape"] == [3, 5, 7]
    assert len(written.read_text("utf-8").splitlines()) == len(IMAGES) + 19  # `diff` can be used


def test_the_content_is_that_of_images_and_labels_alone():
    named = make_certificate(NamedFiles(IMAGES, NAMES))
    plain = make_certificate(in_batches(IMAGES, np.arange(6)), seed=5)
    other = make_certificate(in_batches(IMAGES, np.arange(6)[::-1]))

    assert named.content == plain.content != other.content
    assert named.seal != plain.seal
    assert (named.named, plain.named) == (True, False)


def test_hashes_can_be_checked_by_hand(written):
    import hashlib

    said = json.loads(written.read_text("utf-8"))["images"][2]["hash"]
    assert said == hashlib.sha256(b"uint8 3x5x7\n" + IMAGES[2].tobytes()).hexdigest()


def change(said, *path, to):
    for step in path[:-1]:
        said = said[step]
    said[path[-1]] = to


@pytest.mark.parametrize(
    ("path", "to", "message"),
    [
        (["format"], "other", '\'format\' must be "penstock certificate", got "other"'),
        (["version"], 2, "a certificate of version 2; this penstock reads 1"),
        (["version"], "1", "'version' must be a whole number"),
        (["subject"], 3, "'subject' must be text, got 3"),
        (["subject"], "\ud800", "'subject' must be text"),
        (["transform"], [], "'transform' must be text, or null"),
        (["seed"], -1, "'seed' must be a whole number"),
        (["seed"], True, "'seed' must be a whole number"),
        (["labels"], 1, "'labels' must be true or false"),
        (["versions"], {"numpy": 2}, "'versions' must be an object of texts"),
        (["pixels"], "../a.npz", "'pixels' must be the name of a file"),
        (["pixels"], "", "'pixels' must be the name of a file"),
        (["images"], {}, "'images' must be a list"),
        (["images"], [], "has no images"),
        (["images", 0], 3, "image 0: must be an object"),
        (["images", 1, "shape"], [5], "image 1: 'shape' must be a list of two or three sides"),
        (["images", 1, "shape"], [0, 5], "'shape' must be"),
        (["images", 1, "shape"], [2**40, 5], "'shape' must be"),
        (["images", 1, "dtype"], "object", "'dtype' must be a known type"),
        (["images", 1, "dtype"], [], "'dtype' must be a known type"),
        (["images", 1, "hash"], "abc", "'hash' must be a SHA-256"),
        (["images", 1, "label"], "abc", "'label' must be a SHA-256, or null"),
        (["images", 1, "nans"], -1, "'nans' must be a whole number"),
        (["images", 1, "nans"], 10**9, "fewer values"),
        (["images", 1, "more"], 1, "'more' is not known here"),
        (["more"], 1, "'more' is not known here"),
        (["content"], "0" * 64, "its content does not fit"),
        (["seal"], "0" * 64, "its seal does not fit"),
        (["seed"], 4, "its seal does not fit"),
        (["images", 1, "label"], None, "its content does not fit"),
        (["images", 1, "name"], "cat/9.jpg", "its seal does not fit"),
        (["images", 1, "hash"], "0" * 64, "its content does not fit"),
    ],
    ids=range(32),
)
def test_whatever_was_changed_is_noticed(written, path, to, message):
    said = json.loads(written.read_text("utf-8"))
    change(said, *path, to=to)
    written.write_text(json.dumps(said))

    with pytest.raises(CertifyError, match=r"a\.json: ") as refused:
        Certificate.read(written)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["format", "seed", "pixels", "images", "content", "seal"])
def test_nothing_may_be_missing(written, name):
    said = json.loads(written.read_text("utf-8"))
    del said[name]
    written.write_text(json.dumps(said))

    with pytest.raises(CertifyError, match=f"'{name}' is missing"):
        Certificate.read(written)


def test_names_are_given_to_all_or_none(written):
    said = json.loads(written.read_text("utf-8"))
    del said["images"][2]["name"]
    written.write_text(json.dumps(said))

    with pytest.raises(CertifyError, match="some of its images have names"):
        Certificate.read(written)


def test_a_file_that_was_cut_short(written):
    whole = written.read_bytes()
    for length in {*range(0, len(whole) - 2, 97), len(whole) - 3}:
        written.write_bytes(whole[:length])
        with pytest.raises(CertifyError, match=r"a\.json: "):
            Certificate.read(written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"format": 1, "format": 2}', "'format' comes twice"),
        (b'{"seed": NaN}', "NaN is no number"),
        (b'{"seed": -Infinity}', "-Infinity is no number"),
        (b"\xff\xfe", "not JSON as it should be"),
        (b"[" * 100_000, "not JSON as it should be"),
        (b"[]", "must be an object"),
    ],
    ids=range(6),
)
def test_what_is_no_certificate(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_bytes(text)

    with pytest.raises(CertifyError, match=message):
        Certificate.read(path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(CertifyError, match="Check the path"):
        Certificate.read(tmp_path / "none.json")
    with pytest.raises(CertifyError, match="a folder, not a regular file"):
        Certificate.read(tmp_path)
    with pytest.raises(OutputError, match="cannot write the certificate"):
        make_certificate(in_batches(IMAGES)).save(tmp_path / "none" / "a.json")


def test_layout_of_the_text_does_not_matter(written):
    written.write_text(json.dumps(json.loads(written.read_text("utf-8")), indent=4))

    assert certify(written, NamedFiles(IMAGES, NAMES)).equal


def test_settings_are_those_of_the_certificate(tmp_path):
    def drawn():
        return in_batches(np.random.default_rng(np.random.randint(2**31)).random((9, 2, 2, 3)))  # noqa: NPY002 (what is seeded)

    path = tmp_path / "a.json"
    make_certificate(drawn, seed=7, images=5).save(path)

    found = certify(drawn, path)
    assert found.equal
    assert len(found.images) == 5
    assert not certify(drawn, path, seed=8).equal
    assert any("seed 7" in note for note in certify(drawn, path, seed=8).notes)
    more = certify(drawn, path, images=9)
    assert more.counts == {"equal": 5, "only in A": 4}
    assert any("the first 5 images only" in note for note in more.notes)


def test_a_certificate_has_no_certificate(written):
    with pytest.raises(CertifyError, match="is a certificate already"):
        make_certificate(written)
