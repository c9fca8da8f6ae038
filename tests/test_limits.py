"""One budget: what exceeds it is refused by name, and `--limit` or `limits=` raises it."""

import errno
import os
import threading

import numpy as np
import PIL.Image
import pytest

from dataset_samples import image_bytes
from penstock import Limits, Loader, pack, unpack, verify
from penstock.cli.main import EXIT_ERROR, main
from penstock.errors import DecodeError, PackError, PenstockError, ResourceError, SourceError
from penstock.geometry import Size
from penstock.limits import beyond, limits_from_text, limits_in_force, using
from penstock.packing import items
from penstock.packing.datasets.layout_source import LayoutSource, explaining_parsers
from penstock.packing.inspect import make_contact_sheet
from penstock.packing.mask_runs import encode_runs
from penstock.packing.records import room_for

FEW = Limits(pixels=50)  # the images below have 60


@pytest.fixture
def images(tmp_path):
    """One image that is kept as a JPEG's coefficients, and one that is kept as pixels."""
    folder = tmp_path / "images" / "cat"
    folder.mkdir(parents=True)
    for name, kind in (("a.jpg", "JPEG"), ("b.png", "PNG")):
        (folder / name).write_bytes(image_bytes(6, 10, kind))
    return folder.parent


@pytest.fixture
def packed(images, tmp_path):
    pack(images, tmp_path / "a.pen")
    return tmp_path / "a.pen"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("pixels=400M", "pixels", 400_000_000),
        ("record-bytes=2g", "record_bytes", 2_000_000_000),
        ("mask_pixels=7", "mask_pixels", 7),
        (" depth = 3K", "depth", 3000),
    ],
)
def test_limits_are_read_from_text(text, name, value):
    assert getattr(limits_from_text([text]), name) == value


@pytest.mark.parametrize(
    "text", ["", "pixels", "pixels=", "size=3", "pixels=-1", "pixels=0", "x=" + "9" * 99]
)
def test_a_limit_that_is_none_names_those_that_are(text):
    with pytest.raises(PenstockError, match="Names: pixels, mask-pixels, "):
        limits_from_text([text])


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "9"])
def test_a_limit_must_be_a_number(value):
    with pytest.raises(PenstockError, match="columns must be a whole number from 1 on"):
        Limits(columns=value)
    with pytest.raises(PenstockError, match=r"penstock\.Limits"):
        verify("a.pen", limits=value)


def test_limits_hold_for_a_block_and_its_threads():
    seen = []
    with using(Limits(depth=3)), using(None):
        assert beyond("depth", 4)
        thread = threading.Thread(target=lambda: seen.append(limits_in_force()))
        thread.start()
        thread.join()
    assert limits_in_force() == seen[0] == Limits()


def test_pillow_reads_as_much_as_is_allowed_and_no_more_afterwards():
    before = PIL.Image.MAX_IMAGE_PIXELS
    with using(Limits(pixels=10**9)), using(Limits(pixels=2 * 10**9)):
        assert PIL.Image.MAX_IMAGE_PIXELS == 2 * 10**9
    assert before == PIL.Image.MAX_IMAGE_PIXELS


def test_packing_obeys_the_limit_that_the_error_names(images, tmp_path, capsys):
    target = tmp_path / "b.pen"
    with pytest.raises(
        DecodeError, match=r"6x10, 60 pixels\. .*--limit pixels=60, or limits=Limits\(pixels=60\)"
    ):
        pack(images, target, limits=FEW)
    assert pack(images, target, resume=True, on_error="skip", limits=FEW).samples == 0

    arguments = ["pack", str(images), str(tmp_path / "c.pen"), "--limit"]
    assert main([*arguments, "pixels=50"]) == EXIT_ERROR
    assert "--limit pixels=60" in capsys.readouterr().err
    assert main([*arguments, "pixels=60", "--resume"]) == 0


def test_a_deep_verify_counts_what_is_too_large_as_a_problem(packed, capsys):
    assert verify(packed, deep=True).intact
    problems = verify(packed, deep=True, limits=FEW).problems

    assert [("a.jpg" in told, "--limit pixels=60" in told) for told in problems] == [(True, True)]
    assert main(["verify", "--deep", "--limit", "pixels=50", str(packed)]) == 1
    assert "--limit pixels=60" in capsys.readouterr().out


def test_unpacking_and_sheets_obey_the_limit(packed, tmp_path, capsys):
    with pytest.raises(PackError, match="--limit pixels=60"):
        unpack(packed, tmp_path / "out", limits=FEW)
    with pytest.raises(PackError, match="--limit pixels=60"):
        make_contact_sheet(packed, tmp_path / "a.png", limits=FEW)
    sheet = ["inspect", str(packed), "--sheet", str(tmp_path / "b.png"), "--limit"]
    assert main([*sheet, "pixels=50"]) == EXIT_ERROR
    assert main([*sheet, "pixels=60"]) == 0
    assert unpack(packed, tmp_path / "more", limits=Limits(pixels=60)).files == 2


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_a_loader_obeys_the_limit(images, backend):
    def first(**options):
        return next(iter(Loader(images, output="numpy", backend=backend, **options)))

    with pytest.raises(DecodeError, match="pixel_limit=50 allows"):
        first(limits=FEW)
    with pytest.raises(DecodeError, match="pixel_limit=40 allows"):
        first(limits=FEW, pixel_limit=40)
    with using(FEW), pytest.raises(DecodeError, match="pixel_limit=50 allows"):
        first()
    first(limits=FEW, pixel_limit=60)


def test_a_loader_obeys_the_limit_for_masks(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "masks").mkdir()
    (tmp_path / "images" / "a.jpg").write_bytes(image_bytes(6, 10))
    PIL.Image.new("L", (20, 20)).save(tmp_path / "masks" / "a.png")
    paths = {"data": tmp_path / "images", "masks": tmp_path / "masks"}

    with pytest.raises(DecodeError, match="its mask says 20x20, 400 pixels"):
        next(iter(Loader(**paths, output="numpy", limits=Limits(pixels=100))))


class Masks:
    """Two masks of one image, to pack."""

    columns = (items.BOXES, items.BOX_LABELS, items.MASKS)
    classes = box_classes = None
    length = 1

    def items(self, start=0):
        masks = encode_runs(np.zeros((2, 6, 10), np.bool_), 2, Size(6, 10))
        columns = {
            "boxes": np.zeros((2, 4), np.float32),
            "box_labels": np.zeros(2, np.int64),
            "masks": masks,
        }
        yield items.PackItem("a.jpg", image_bytes(6, 10), columns)

    def describe(self):
        return "masks"


def test_all_masks_of_an_image_count_together(tmp_path):
    pack(Masks(), tmp_path / "a.pen")

    def first(pixels):
        return next(
            iter(
                Loader(
                    tmp_path / "a.pen",
                    masks=True,
                    output="numpy",
                    limits=Limits(mask_pixels=pixels),
                )
            )
        )

    with pytest.raises(
        DecodeError, match=r"2 masks of 6x10, 120 pixels together\. .* mask-pixels=120"
    ):
        first(119)
    first(120)


def test_images_under_way_wait_for_room():
    """So that many threads take no more memory than one."""
    order = []

    def second():
        with using(FEW), room_for(5, 6):
            order.append("second")

    waiting = threading.Thread(target=second)
    with using(FEW), room_for(5, 6):
        waiting.start()
        waiting.join(0.05)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_what_a_parser_raises_names_the_data_set_and_our_own_faults_stay():
    def broken(index):
        import json

        return json.loads("{")

    def ours(index):
        return None.nothing

    source = LayoutSource("x", "some data", (), broken, 1)
    with pytest.raises(SourceError, match=r"some data: it cannot be read \(JSONDecodeError: "):
        list(source.items())
    with pytest.raises(SourceError, match=r"some data: it cannot be read \(JSONDecodeError: "):
        source.at(0)
    with pytest.raises(AttributeError) as caught:
        list(LayoutSource("x", "some data", (), ours, 1).items())
    assert "Please report it" in "".join(getattr(caught.value, "__notes__", ["Please report it"]))


def test_what_the_machine_refuses_is_not_taken_for_damage():
    with (
        pytest.raises(ResourceError, match=r"a\.parquet: it cannot be read .*limit on open files"),
        explaining_parsers("a.parquet"),
    ):
        raise OSError(errno.EMFILE, "Too many open files")


def test_nothing_is_left_of_the_pixels_under_way(images, tmp_path):
    from penstock.packing import records

    (images / "cat" / "c.jpg").write_bytes(os.urandom(100))
    pack(images, tmp_path / "a.pen", on_error="skip", threads=4)
    assert records._under_way == []
