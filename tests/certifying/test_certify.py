"""What is found: equal or not, every kind of mismatch, and memory that does not grow."""

import json
import weakref

import numpy as np
import pytest

import penstock as ps
from certifying.certified import NamedFiles, in_batches, make_images
from penstock.certifying.comparison import WORST_KEPT
from penstock.certifying.images import Item, Pixels
from penstock.certifying.matching import NameMatcher
from penstock.errors import OutputError

IMAGES = make_images(8)
NAMES = [f"{number}.png" for number in range(8)]


def moved(images, numbers, levels=1):
    """Some images with one value that is other by some levels."""
    other = images.copy()
    for number in numbers:
        value = int(other[number, 0, 0, 0])
        other[number, 0, 0, 0] = value + levels if value < 128 else value - levels
    return other


def batches(images, labels=None):
    return in_batches(images, np.arange(len(images)) if labels is None else labels)


def test_the_verdict_says_how_many_how_far_and_how_much():
    found = ps.certify(batches(IMAGES), batches(moved(IMAGES, [1, 4, 6])))

    assert not found.equal
    assert found.verdict == "3 of 8 images differ, by at most one level in 0.952% of their values."
    assert found.counts == {"equal": 5, "differs": 3}
    assert [image.name for image in found.images if not image.equal] == [
        *("image 1", "image 4", "image 6")
    ]
    assert found.peak_said == "255 for uint8"
    assert found.psnr(found.images[1]) == pytest.approx(20 * np.log10(255) + 10 * np.log10(105))
    assert found.psnr(found.images[0]) is None
    assert [(entry.title, entry.images) for entry in found.bins()] == [("none", 5), ("1", 3)]


def test_tolerance():
    sides = batches(IMAGES), batches(moved(IMAGES, [1, 4], 3))
    assert ps.certify(*sides, tolerance=3).passed
    assert "All are within the tolerance of 3." in ps.certify(*sides, tolerance=3).verdict
    assert not ps.certify(*sides, tolerance=3).equal
    found = ps.certify(*sides, tolerance=2.5)
    assert not found.passed
    assert "2 are not within the tolerance of 2.5 (image 1, image 4)." in found.verdict
    labels = np.arange(8)[::-1]
    assert not ps.certify(batches(IMAGES), batches(IMAGES, labels), tolerance=9).passed
    assert not ps.certify(batches(IMAGES), batches(IMAGES[:7]), tolerance=9).passed


def test_floats_and_what_psnr_is_relative_to():
    images = make_images(4, dtype=np.float32)
    other = images.copy()
    other[2, 0, 0, 0] += 0.25
    found = ps.certify(batches(images), batches(other))

    assert found.verdict.startswith("1 of 4 images differ, by at most 0.25 in 0.952%")
    span = max(images[2].max(), other[2].max()) - min(images[2].min(), other[2].min())
    assert found.peak_said == f"{span:.4g}, the range of the images that differ"
    squares = np.square(images[2].astype(float) - other[2]).mean()
    assert found.psnr(found.images[2]) == pytest.approx(10 * np.log10(span**2 / squares))
    stated = ps.certify(batches(images), batches(other), peak=1.0)
    assert stated.peak_said == "1, as stated"
    assert stated.psnr(stated.images[2]) == pytest.approx(-10 * np.log10(squares))


@pytest.mark.parametrize(
    ("other", "status", "words"),
    [
        (IMAGES / np.float32(255), "of another type", "A is uint8, B is float32; no scale is"),
        (IMAGES.astype(np.uint16), "of another type", "A is uint8, B is uint16"),
        (IMAGES[:, :, :4], "of another shape", "8 of 8 images have another shape"),
        (IMAGES.transpose(0, 2, 3, 1), "in another order of channels", "transpose one of both"),
        (IMAGES.transpose(0, 1, 3, 2), "of another shape", "have another shape"),
    ],
    ids=["float", "uint16", "shape", "layout", "turned"],
)
def test_what_cannot_be_compared(other, status, words):
    found = ps.certify(batches(IMAGES), batches(other), tolerance=1e9)

    assert found.counts == {status: 8}
    assert words in found.verdict
    assert not found.passed
    assert found.images[0].note.startswith("A is ")


def test_counts():
    found = ps.certify(batches(IMAGES), batches(IMAGES[:6]))
    assert found.counts == {"equal": 6, "only in A": 2}
    assert "2 of 8 images are only in A (image 6, image 7)." in found.verdict
    found = ps.certify(batches(IMAGES[:6]), batches(IMAGES))
    assert found.counts == {"equal": 6, "only in B": 2}


def test_names():
    a = NamedFiles(IMAGES, NAMES)
    order = [3, 1, 7, 0]
    b = NamedFiles(IMAGES[order], [NAMES[number] for number in order], labels=order)
    found = ps.certify(a, b)

    assert found.counts == {"equal": 4, "only in A": 4}
    assert "(2.png, 4.png, 5.png and 1 more)" in found.verdict
    placed = ps.certify(a, b, match="position")
    assert placed.counts == {"differs": 3, "equal": 1, "only in A": 4}
    assert placed.images[0].name == "image 0"
    half = ps.certify(a, batches(IMAGES[order], np.array(order)))
    assert half.images[0].name == "image 0 (0.png in A)"
    both = ps.certify(ps.make_certificate(a), ps.make_certificate(b), match="position")
    assert both.images[0].name == "image 0 (0.png in A, 3.png in B)"


def test_no_name_in_common():
    found = ps.certify(NamedFiles(IMAGES, NAMES), NamedFiles(IMAGES, [f"x{n}" for n in NAMES]))

    assert found.counts == {"only in A": 8, "only in B": 8}
    assert any("No name is in both (such as 0.png and x7.png)" in note for note in found.notes)


def test_names_that_come_twice():
    a = NamedFiles(IMAGES[:3], ["a", "b", "a"])
    b = NamedFiles(IMAGES[[0, 2, 1]], ["a", "a", "b"], labels=[0, 2, 1])
    found = ps.certify(a, b)

    assert found.equal
    assert len([note for note in found.notes if "come more than once" in note]) == 2


def test_labels():
    labels = np.arange(8)
    other = labels.copy()
    other[5] = 9
    found = ps.certify(batches(IMAGES, labels), batches(IMAGES, other))

    assert found.verdict == (
        "The labels of 1 of 8 images differ (image 5: the label is 5 in A, 9 in B)."
    )
    assert not found.equal
    assert ps.certify(batches(IMAGES, labels), batches(IMAGES, other), labels=False).verdict == (
        "All 8 images are equal, bit for bit; labels were not compared."
    )
    none = ps.certify(batches(IMAGES), in_batches(IMAGES))
    assert "(image 0: B has no label)" in none.verdict
    assert ps.certify(in_batches(IMAGES), in_batches(IMAGES)).verdict == (
        "All 8 images are equal, bit for bit; there are no labels to compare."
    )


def test_labels_that_a_certificate_left_out():
    without = ps.make_certificate(batches(IMAGES), labels=False)
    found = ps.certify(batches(IMAGES), without)
    assert found.equal
    assert any("made without labels" in note for note in found.notes)
    assert ps.certify(ps.make_certificate(batches(IMAGES)), without).equal


def test_nan():
    images = make_images(4, dtype=np.float32)
    images[1, 0, 0, 0] = np.nan
    same = ps.certify(batches(images), batches(images))
    assert same.equal
    assert same.images[1].nans == (1, 1)
    assert same.certificate.images[1].nans == 1
    assert same.notes == tuple(f"1 value of {letter} is NaN (image 1)." for letter in "AB")

    other = images.copy()
    other[1, 0, 0, 0] = 1
    other[2, 0, 0, 0] = np.inf
    found = ps.certify(batches(images), batches(other), tolerance=1e9)
    assert not found.passed
    assert found.verdict.startswith(
        "2 of 4 images differ in values that are NaN or infinite on one side (image 1, image 2)."
    )
    assert found.psnr(found.images[1]) is None
    other[3, 0, 0, 0] += 1
    told = ps.certify(batches(images), batches(other)).verdict
    assert told.startswith("3 of 4 images differ, by at most 1 in 0.952% of their values. 2 differ")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["different"]


def test_minus_zero():
    found = ps.certify([np.zeros((1, 1, 2, 2))], [-np.zeros((1, 1, 2, 2))])

    assert found.verdict.startswith("The one image differs in bits alone, not in values")
    assert not found.equal
    assert ps.certify([np.zeros((1, 1, 2, 2))], [-np.zeros((1, 1, 2, 2))], tolerance=0).passed


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 1), (1, 1, 300), (4, 9, 2), (7, 6), (2, 3, 3)])
def test_odd_shapes(shape):
    a = [make_images(3, shape)[number] for number in range(3)]
    b = [image.copy() for image in a]
    b[1].flat[-1] ^= 255
    found = ps.certify([a], [b])

    assert found.counts == {"equal": 2, "differs": 1}
    assert found.images[1].difference.largest == abs(int(a[1].flat[-1]) - int(b[1].flat[-1]))


def test_figures_for_programs():
    found = ps.certify(batches(IMAGES), batches(moved(IMAGES, [1])), tolerance=1)
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))

    assert (said["equal"], said["passed"], said["images"]) == (False, True, 8)
    (image,) = said["different"]
    assert image["name"] == "image 1"
    assert image["difference"]["largest"] == 1
    assert image["difference"]["box"] == [0, 0, 1, 1]
    assert image["psnr_db"] == pytest.approx(found.psnr(found.images[1]))
    assert said["content"][0] != said["content"][1]


def test_certificates_of_both_sides(tmp_path):
    found = ps.certify(batches(IMAGES), batches(moved(IMAGES, [1])))
    found.save(tmp_path / "a.json")

    assert ps.Certificate.read(tmp_path / "a.json") == found.certificate
    assert ps.certify(tmp_path / "a.json", found.certificate_b).counts == {
        "equal": 7,
        "differs, by an unknown amount": 1,
    }
    with pytest.raises(OutputError, match="cannot write the report"):
        found.to_html(tmp_path / "none" / "a.html")


def test_lines_for_people():
    found = ps.certify(batches(IMAGES), batches(moved(IMAGES, [1, 2], 5)))
    lines = found.lines()

    assert lines[0] == found.verdict
    assert any(line.startswith("worst images") for line in lines)
    assert "PSNR is relative to 255 for uint8." in lines
    assert any("worst at row 0, column 0, channel 0" in line for line in lines)


# ---- memory


def test_only_the_worst_keep_their_pixels():
    """Whatever many images differ, the rest are let go while the comparison goes on."""
    given, most = [], 0

    def fresh(levels):
        nonlocal most
        for number in range(40):
            batch = make_images(1, seed=number).astype(np.int32) + levels * number
            given.append(weakref.ref(batch))
            most = max(most, sum(one() is not None for one in given))
            yield batch
            del batch

    found = ps.certify(lambda: fresh(0), lambda: fresh(1))

    assert found.counts == {"equal": 1, "differs": 39}
    assert len(found.worst) == WORST_KEPT
    assert [image.result.difference.largest for image in found.worst] == [39, 38, 37, 36, 35, 34]
    assert most <= 6  # the batch at hand and the one before it, of both sides


def item(name, pixels):
    return Item(
        0,
        name,
        pixels.shape,
        "uint8",
        Pixels(pixels, "uint8").digest(),
        None,
        lent=Pixels(pixels, "uint8"),
    )


def test_images_that_wait_have_a_bound():
    """Beyond it only hashes wait, and a note says so."""
    pixels = make_images(6)
    size = pixels[0].nbytes
    names = list("abcdef")
    matcher = NameMatcher(most_bytes=3 * size)
    forth = iter([item(name, one) for name, one in zip(names, pixels, strict=True)])
    back = iter([item(name, one) for name, one in zip(names, pixels, strict=True)][::-1])

    pairs = list(matcher.match(forth, back))

    assert len(pairs) == 6
    assert all(a.name == b.name for a, b in pairs)
    assert matcher.let_go == 3
    assert sum(not a.has_pixels or not b.has_pixels for a, b in pairs) == 3
    assert matcher._held_bytes == 0


def test_pixels_that_had_to_go_are_told_of(monkeypatch):
    monkeypatch.setattr(
        "penstock.certifying.certify.NameMatcher", lambda: NameMatcher(most_bytes=0)
    )
    order = list(range(8))[::-1]
    b = NamedFiles(moved(IMAGES, [0])[order], [NAMES[n] for n in order], labels=order)
    found = ps.certify(NamedFiles(IMAGES, NAMES), b)

    assert found.counts == {"equal": 7, "differs, by an unknown amount": 1}
    assert any("Give both sides one order" in note for note in found.notes)


def test_names_that_begin_elsewhere():
    """As those of a list of files and of a folder; what is the same file is found out."""
    a = NamedFiles(IMAGES, [f"cat/{name}" for name in NAMES])
    for root in ("/data/train/", "x/"):
        b = NamedFiles(IMAGES, [f"cat/{name}" for name in NAMES], root=None)
        b.samples = [(f"{root}cat/{name}", 0) for name in NAMES]
        for sides in ((a, b), (b, a), (ps.make_certificate(b), a)):
            found = ps.certify(*sides)
            assert found.equal, found.verdict
            assert any(f"from the folder {root} on" in note for note in found.notes)
            assert found.images[0].name == "cat/0.png"


def test_names_below_two_folders():
    def below(root):
        side = NamedFiles(IMAGES, NAMES, root=None)
        side.samples = [(f"{root}{number % 2}/{name}", 0) for number, name in enumerate(NAMES)]
        return side

    assert ps.certify(below("/home/me/cats/"), below("/data/")).equal
    assert ps.certify(below("/data/"), below("/data/")).notes == ()
    assert ps.certify(below("a/"), below("b/")).counts == {"only in A": 8, "only in B": 8}
