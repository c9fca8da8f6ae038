"""Batches of every form, one image at a time, and labels as hashes."""

import numpy as np
import PIL.Image
import pytest

from certifying.certified import make_images
from penstock.certifying.batches import split_batch, split_sample
from penstock.certifying.labels import hash_label, show_label
from penstock.errors import CertifyError

IMAGES = make_images(3)
LABELS = np.array([4, 5, 6])


def digests(given):
    return [view.digest() for one in given for view in one.views]


EXPECTED = digests(split_batch(IMAGES, "here"))


def hashes(given):
    return [hash_label(one.label, "here") for one in given]


@pytest.mark.parametrize(
    "batch",
    [
        (IMAGES, LABELS),
        [IMAGES, LABELS.tolist()],
        (list(IMAGES), LABELS),
        (tuple(IMAGES), (4, 5, 6)),
        [{"data": IMAGES, "label": LABELS}],
    ],
    ids=["tuple", "list", "images in a list", "zipped", "DALI"],
)
def test_forms_of_a_batch(batch):
    given = split_batch(batch, "here")

    assert digests(given) == EXPECTED
    expected = [{"label": n} for n in (4, 5, 6)] if isinstance(batch[0], dict) else [4, 5, 6]
    assert hashes(given) == [hash_label(label, "here") for label in expected]


def test_images_alone():
    assert hashes(split_batch(IMAGES, "here")) == [None] * 3
    assert digests(split_batch(list(IMAGES), "here")) == EXPECTED
    assert hashes(split_batch([IMAGES], "here")) == [None] * 3


def test_pillow_images():
    pictures = [PIL.Image.fromarray(image) for image in make_images(2, (5, 7, 3))]
    given = split_batch((pictures, [0, 1]), "here")

    assert [one.views[0].shape for one in given] == [(5, 7, 3)] * 2


def test_views():
    given = split_batch(([IMAGES, IMAGES[::-1]], LABELS), "here")

    assert [len(one.views) for one in given] == [2, 2, 2]
    assert digests(given)[::2] == EXPECTED
    with pytest.raises(CertifyError, match="its views have 3, 2 images"):
        split_batch(([IMAGES, IMAGES[:2]], LABELS), "here")


def test_several_things_beside_the_images():
    """Each row of each of them belongs to one image, however many images there are."""
    first = split_batch((IMAGES[:2], LABELS[:2], np.array([[0.5], [0.25]])), "here")
    other = split_batch((IMAGES[:2], LABELS[:2], np.array([[0.5], [0.75]])), "here")

    assert hashes(first)[0] == hashes(other)[0]
    assert hashes(first)[1] != hashes(other)[1]


def test_dictionaries():
    given = split_batch({"pixel_values": IMAGES, "labels": LABELS, "name": ["a", "b", "c"]}, "here")

    assert digests(given) == EXPECTED
    assert hashes(given)[0] == hash_label({"name": "a", "labels": 4}, "here")
    with pytest.raises(
        CertifyError, match="several entries that may be the images: 'image', 'img'"
    ):
        split_batch({"image": IMAGES, "img": IMAGES}, "here")
    with pytest.raises(CertifyError, match="no entry for the images: 'x', 'y'"):
        split_batch({"x": IMAGES, "y": LABELS}, "here")


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (IMAGES[0], "images of a batch must be an array .* got an array of 3x5x7"),
        ("text", "got a str"),
        ((IMAGES, 3), "beside them a int"),
        ((IMAGES, LABELS[:2]), r"it has 3 images, and beside them an array of \(2,\)"),
        ((["a", "b"], [1, 2]), "got a str as an image"),
        ([np.zeros((2, 0, 3, 3))], "got an array of 0x3x3"),
        ((np.zeros((2, 3, 4, 4, 4)), LABELS[:2]), "got an array of 2x3x4x4x4"),
    ],
    ids=range(7),
)
def test_what_is_no_batch(batch, message):
    with pytest.raises(CertifyError, match=message):
        split_batch(batch, "here")


def test_samples():
    mask = np.zeros((5, 7), np.int64)
    assert digests(split_sample((IMAGES[0], mask), "here")) == EXPECTED[:1]
    assert digests(split_sample(IMAGES[0], "here")) == EXPECTED[:1]
    assert digests(split_sample(([IMAGES[0], IMAGES[1]], 3), "here")) == EXPECTED[:2]
    assert digests(split_sample({"image": IMAGES[0], "label": 1}, "here")) == EXPECTED[:1]
    with pytest.raises(CertifyError, match="as an image"):
        split_sample((None, 1), "here")
    with pytest.raises(CertifyError, match="an image must have a height, a width"):
        split_sample((IMAGES, 1), "here")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, np.int32(3)),
        (3, np.uint64(3)),
        (np.array([1, 2], np.uint8), np.array([1, 2], np.int64)),
        (0.5, np.float64(0.5)),
        (True, np.bool_(True)),
        ({"a": 1, "b": [2.0]}, {"b": (2.0,), "a": np.int16(1)}),
        (np.array([2**63], np.uint64), np.array([2**63], np.uint64)),
    ],
    ids=range(7),
)
def test_labels_that_are_the_same(one, other):
    assert hash_label(one, "here") == hash_label(other, "here")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 4),
        (3, 3.0),
        (1, True),
        (3, [3]),
        (3, "3"),
        ("3", b"3"),
        (0.5, np.float32(0.5)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.array([0, 1]), np.array([1, 0])),
        (["ab", "c"], ["a", "bc"]),
        ({"a": 1}, {"b": 1}),
        ([None, 1], [1, None]),
        ([[1], 2], [[1, 2]]),
        (np.array([-(2**63)]), np.array([2**63], np.uint64)),
    ],
    ids=range(14),
)
def test_labels_that_differ(one, other):
    assert hash_label(one, "here") != hash_label(other, "here")


def test_labels_that_cannot_be_compared():
    with pytest.raises(CertifyError, match="has a set, which cannot be compared"):
        hash_label({"a": {1, 2}}, "here")


def test_labels_for_people():
    assert show_label(np.int64(3)) == "3"
    assert show_label("cat") == "'cat'"
    assert show_label(np.arange(3)) is None
    assert show_label("x" * 99).endswith("...")
