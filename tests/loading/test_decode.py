"""penstock.decode and decode_batch: Pillow's bytes, of whole images and of parts."""

import io
import os
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

import penstock
from penstock import DecodeError, Limits, LoaderError

KINDS = {
    "full.jpg": {"subsampling": "4:4:4"},
    "quarter.jpg": {"subsampling": "4:2:0", "quality": 80},
    "slow.jpg": {"subsampling": "4:2:0", "progressive": True},
    "gray.jpg": {},
    "plain.png": {},
    "small.webp": {"lossless": True},
}
BOXES = [None, (0, 0, 1, 1), (13, 7, 300, 250), (499, 332, 500, 333), (0, 100, 500, 133)]
SIZES = [None, (40, 60), (1, 1), 50, (400, 700)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    coarse = PIL.Image.fromarray(rng.integers(0, 256, (9, 12, 3), dtype=np.uint8))
    image = coarse.resize((500, 333), PIL.Image.Resampling.BICUBIC)
    folder = tmp_path_factory.mktemp("images")
    for name, options in KINDS.items():
        (image.convert("L") if "gray" in name else image).save(folder / name, **options)
    return [folder / name for name in KINDS]


def by_pillow(path, box, size):
    with PIL.Image.open(path) as opened:
        image = opened.convert("RGB")
    if box is not None:
        image = image.crop(box)
    if isinstance(size, int):
        short, long = sorted(image.size)
        other = int(size * long / short)
        size = (size, other) if image.width >= image.height else (other, size)
    if size is not None:
        image = image.resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    return np.asarray(image)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("box", BOXES, ids=str)
def test_parts_are_those_of_pillow(files, box, size):
    if isinstance(size, int) and box is not None and min(box[2] - box[0], box[3] - box[1]) < 2:
        pytest.skip("a shorter side of 1 pixel makes a longer one of thousands")
    for path in files:
        wanted = by_pillow(path, box, size)
        np.testing.assert_array_equal(penstock.decode(path, box, size), wanted)
        np.testing.assert_array_equal(penstock.decode(path.read_bytes(), box, size), wanted)


def test_a_batch_has_the_same_images(files):
    boxes = [BOXES[index % len(BOXES)] for index in range(len(files))]
    stacked = penstock.decode_batch(files, boxes, (40, 60), threads=2)
    listed = penstock.decode_batch(map(str, files), boxes)

    assert stacked.shape == (len(files), 40, 60, 3)
    for row, (path, box) in enumerate(zip(files, boxes, strict=True)):
        np.testing.assert_array_equal(stacked[row], by_pillow(path, box, (40, 60)))
        np.testing.assert_array_equal(listed[row], by_pillow(path, box, None))


def test_one_number_in_a_list_is_the_shorter_side(files):
    """As for torchvision: results then differ in size, and are a list."""
    listed = penstock.decode_batch(files[:2], [None, (0, 0, 100, 300)], [50])

    assert [image.shape for image in listed] == [(50, 75, 3), (150, 50, 3)]


def test_outputs(files):
    torch = pytest.importorskip("torch")
    wanted = by_pillow(files[0], BOXES[2], (40, 60))
    tensor = penstock.decode(files[0], BOXES[2], (40, 60), output="torch")
    image = penstock.decode(files[0], BOXES[2], (40, 60), output="pillow")
    batch = penstock.decode_batch(files[:2], None, (40, 60), output="torch")

    assert tensor.shape == (3, 40, 60)
    assert tensor.dtype == torch.uint8
    np.testing.assert_array_equal(tensor.permute(1, 2, 0).numpy(), wanted)
    np.testing.assert_array_equal(np.asarray(image), wanted)
    assert batch.shape == (2, 3, 40, 60)
    assert penstock.decode_batch([], size=(4, 5)).shape == (0, 4, 5, 3)
    assert penstock.decode_batch([]) == []


def test_fast_decodes_large_photos_smaller_and_stays_near(files):
    exact = penstock.decode(files[1], size=(60, 90)).astype(int)
    fast = penstock.decode(files[1], size=(60, 90), fidelity="fast")

    assert 0 < np.abs(exact - fast).max() <= 32


def test_other_interpolations(files):
    with PIL.Image.open(files[0]) as image:
        wanted = np.asarray(image.resize((60, 40), PIL.Image.Resampling.LANCZOS))
    got = penstock.decode(files[0], size=(40, 60), interpolation="lanczos")

    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ((0, 0, 501, 10), "500 wide and 333 high"),
        ((-1, 0, 5, 5), "within the image"),
        ((5, 5, 5, 9), "empty"),
        ((0, 0, 2.5, 4), "four whole numbers"),
        ((0, 0, 5), "four whole numbers"),
        ("abcd", "four whole numbers"),
    ],
)
def test_boxes_that_are_refused(files, box, said):
    with pytest.raises(LoaderError, match=said):
        penstock.decode(files[0], box)


def test_what_is_no_image_is_named(files, tmp_path):
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(files[0].read_bytes()[:2_000])
    with pytest.raises(DecodeError, match=r"cut\.jpg"):
        penstock.decode(cut)
    with pytest.raises(DecodeError, match=r"gone\.jpg"):
        penstock.decode(tmp_path / "gone.jpg")
    with pytest.raises(DecodeError, match="image 1"):
        penstock.decode_batch([files[0].read_bytes(), b"no image"])
    with pytest.raises(DecodeError, match="image 0"):
        penstock.decode(b"")
    with pytest.raises(DecodeError, match="pixel"):
        penstock.decode(files[0], limits=Limits(pixels=1_000))
    with pytest.raises(DecodeError, match="record_bytes"):
        penstock.decode(files[0], limits=Limits(record_bytes=1_000))
    with pytest.raises(LoaderError, match="path or bytes, got int"):
        penstock.decode(5)


def test_wrong_arguments(files):
    with pytest.raises(LoaderError, match="output must be one of"):
        penstock.decode(files[0], output="jax")
    with pytest.raises(LoaderError, match="fidelity must be one of"):
        penstock.decode(files[0], fidelity="relaxed")
    with pytest.raises(LoaderError, match="6 images, but 1 boxes"):
        penstock.decode_batch(files, [None])
    with pytest.raises(LoaderError, match=r"Use penstock\.decode"):
        penstock.decode_batch(str(files[0]))
    with pytest.raises(LoaderError, match="threads"):
        penstock.decode_batch(files, threads=0)


def test_colours_that_only_pillow_knows():
    buffer = io.BytesIO()
    PIL.Image.new("CMYK", (9, 7), (1, 2, 3, 4)).save(buffer, "JPEG")
    with PIL.Image.open(buffer) as image:
        wanted = np.asarray(image.convert("RGB"))

    np.testing.assert_array_equal(penstock.decode(buffer.getvalue()), wanted)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_process_decodes_too(files):
    script = f"""
import os, sys, warnings, penstock
warnings.simplefilter("ignore")
whole = penstock.decode({str(files[0])!r})
child = os.fork()
if child == 0:
    sys.exit(7 if (penstock.decode({str(files[0])!r}) == whole).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
