"""What `pack` makes of sources, options and bad files."""

import io
import tracemalloc

import numpy as np
import PIL.Image
import pytest

from packing.samples import ListSource, image_file, mixed_source
from penstock.errors import DecodeError, PackError, SourceError
from penstock.packing import ordered_map
from penstock.packing.items import BOXES, MASKS, PackItem, keypoints_column
from penstock.packing.pack import pack
from penstock.packing.records import read_image
from penstock.packing.shards import open_packed

pytestmark = pytest.mark.usefixtures("fake_codec")


def test_a_folder_with_its_classes(tmp_path, write_folder):
    root = write_folder({"cat/a.jpg": image_file(0), "dog/b.png": image_file(1, format="PNG")})
    pack(root, tmp_path / "a.pen")
    data = open_packed(tmp_path / "a.pen")

    assert [data.sample(index).name for index in range(2)] == ["cat/a.jpg", "dog/b.png"]
    assert [data.value("label", index) for index in range(2)] == [0, 1]
    assert data.table("classes") == ("cat", "dog")


def test_loose_images_are_packed_without_labels(tmp_path, write_folder):
    folder = write_folder({"b.jpg": image_file(1), "a.jpg": image_file(0), "notes.txt": b"no"})

    summary = pack(folder, tmp_path / "a.pen")

    data = open_packed(tmp_path / "a.pen")
    assert [data.files[0].name(place) for place in range(2)] == ["a.jpg", "b.jpg"]
    assert summary.columns == ()
    assert any("no labels" in line for line in summary.lines())


def test_the_layout_can_be_said(tmp_path, write_folder):
    root = write_folder({"train/a.jpg": image_file(0), "images/b.jpg": image_file(1)})
    with pytest.raises(SourceError, match="are parts of a data set"):
        pack(root, tmp_path / "a.pen")
    assert pack(root, tmp_path / "a.pen", kind="folder").samples == 2
    with pytest.raises(SourceError, match="they go with a file or folder"):
        pack([root / "train/a.jpg"], tmp_path / "b.pen", kind="folder")
    with pytest.raises(SourceError, match="labels: a list has its own"):
        pack(mixed_source(), tmp_path / "b.pen", labels=[1])


def test_a_list_of_files_with_float_labels(tmp_path, write_folder):
    root = write_folder({"a.jpg": image_file(0), "b.jpg": image_file(1)})
    pack([root / "b.jpg", root / "a.jpg"], tmp_path / "a.pen", labels=[0.5, 1.5])
    data = open_packed(tmp_path / "a.pen")

    assert data.sample(0).name == str(root / "b.jpg").lstrip("/")
    assert data.value("label", 1) == 1.5


@pytest.mark.parametrize("knows_length", [True, False])
def test_shards_hold_the_samples_in_order(tmp_path, knows_length):
    source = mixed_source(7)
    source.knows_length = knows_length
    summary = pack(source, tmp_path / "set", shards=3)
    data = open_packed(tmp_path / "set")

    assert (summary.samples, summary.files, len(data)) == (7, 3, 7)
    assert [len(file) for file in data.files] == [2, 2, 3]
    assert [data.sample(index).name for index in range(7)] == [item.name for item in source.listed]
    with pytest.raises(IndexError):
        data.locate(7)


def test_shards_are_one_pass_over_the_source(tmp_path):
    source = mixed_source(7)
    pack(source, tmp_path / "set", shards=3)
    assert source.started == [0]


def test_more_shards_than_samples(tmp_path):
    pack(mixed_source(2), tmp_path / "set", shards=4)
    assert len(open_packed(tmp_path / "set")) == 2


def test_bad_files_stop_the_pack_or_are_left_out(tmp_path):
    items = [
        PackItem("good.jpg", image_file(0)),
        PackItem("text.jpg", b"\xff\xd8\xff no JPEG at all"),
        PackItem("missing.jpg", tmp_path / "missing.jpg"),
        PackItem("empty.png", b""),
        PackItem("cut.png", image_file(0, format="PNG")[:80]),
    ]
    with pytest.raises(DecodeError, match=r"text\.jpg: not an image that Pillow knows"):
        pack(ListSource(items), tmp_path / "a.pen")
    summary = pack(ListSource(items), tmp_path / "b.pen", on_error="skip")

    assert summary.samples == 1
    assert [entry.split(":")[0] for entry in summary.skipped] == [item.name for item in items[1:]]
    assert "left out: 4 files" in summary.lines()


@pytest.mark.parametrize("shards", [1, 2])
def test_a_source_may_have_told_a_wrong_length(tmp_path, shards):
    source = mixed_source(6)
    told = ListSource(source.listed[:4], source.columns, source.classes, source.box_classes)
    told.items = source.items
    assert pack(told, tmp_path / "a.pen", shards=shards).samples == 6


def test_names_that_cannot_be_stored(tmp_path):
    source = ListSource([PackItem("\ud800.jpg", image_file(0))])
    with pytest.raises(PackError, match=r"\\ud800\.jpg: no file can be .*: it is not Unicode"):
        pack(source, tmp_path / "a.pen")
    assert len(pack(source, tmp_path / "b.pen", on_error="skip").skipped) == 1


def test_short_side_scales_images_boxes_points_and_masks(tmp_path):
    mask = np.zeros((2, 40, 60), np.uint8)
    mask[0, :20], mask[1, :, 30:] = 1, 1
    png = io.BytesIO()
    PIL.Image.fromarray(mask.reshape(80, 60)).save(png, "PNG")
    values = {
        "boxes": [[6, 4, 60, 40]],
        "keypoints": [[[30, 20, 2]]],
        "masks": png.getvalue(),
    }
    columns = (BOXES, keypoints_column(1), MASKS)
    item = PackItem("a.jpg", image_file(0, (40, 60)), values)
    summary = pack(ListSource([item], columns), tmp_path / "a.pen", short_side=20)
    data = open_packed(tmp_path / "a.pen")

    assert (data.sample(0).height, data.sample(0).width) == (20, 30)
    np.testing.assert_allclose(data.value("boxes", 0), [[3, 2, 30, 20]])
    np.testing.assert_allclose(data.value("keypoints", 0), [[[15, 10, 2]]])
    small = np.asarray(PIL.Image.open(io.BytesIO(data.value("masks", 0)))).reshape(2, 20, 30)
    np.testing.assert_array_equal(small, mask[:, ::2, ::2])
    assert data.lossy
    assert summary.settings == ("short_side=20",)
    assert any("LOSSY" in line for line in summary.lines())


def test_short_images_are_kept_unless_a_quality_is_asked_for(tmp_path):
    source = ListSource(
        [PackItem("a.jpg", image_file(0)), PackItem("b.jpg", image_file(1, (90, 90)))]
    )
    summary = pack(source, tmp_path / "a.pen", short_side=50)
    assert summary.restores == {"bytes": 1, "pixels": 0, "lossy": 1}

    summary = pack(source, tmp_path / "b.pen", quality=30)
    assert summary.restores == {"bytes": 0, "pixels": 0, "lossy": 2}
    assert summary.original_bytes == sum(len(item.data) for item in source.listed)


def test_orientation_survives(tmp_path):
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    items = [
        PackItem("a.jpg", image_file(0, (8, 8), exif=exif)),
        PackItem("a.png", image_file(0, (8, 8), "PNG", exif=exif)),
    ]
    pack(ListSource(items), tmp_path / "a.pen")
    pack(ListSource(items), tmp_path / "b.pen", short_side=4)
    for name in ("a.pen", "b.pen"):
        data = open_packed(tmp_path / name)
        assert [data.sample(index).orientation for index in range(2)] == [6, 6]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"on_error": "ignore"}, "on_error"),
        ({"shards": 0}, "shards"),
        ({"threads": 0}, "threads"),
        ({"quality": 101}, "quality: must be from 1 to 100, got 101"),
        ({"short_side": 0}, "short_side"),
    ],
)
def test_options_are_checked(tmp_path, options, told):
    with pytest.raises(PackError, match=told):
        pack(mixed_source(), tmp_path / "a.pen", **options)
    with pytest.raises(PackError, match=r"must end in \.pen"):
        pack(mixed_source(), tmp_path / "a.zip")


def test_memory_does_not_grow_with_samples(tmp_path):
    data = image_file(0, (100, 100), "PNG")
    peaks = []
    for count in (50, 400):
        tracemalloc.start()
        source = ListSource([PackItem(f"{number}.png", data) for number in range(count)])
        pack(source, tmp_path / f"{count}.pen", threads=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 500_000


def test_work_in_flight_is_bounded():
    begun = 0

    def items():
        nonlocal begun
        for number in range(1000):
            begun += 1
            yield number

    results = ordered_map.map_in_order(lambda number: number * 2, items(), 3)
    assert [next(results) for _ in range(5)] == [0, 2, 4, 6, 8]
    assert begun <= 5 + 3 * ordered_map.WAITING_PER_THREAD
    results.close()


def test_pixels_are_what_the_sample_shows(tmp_path):
    pack(mixed_source(3), tmp_path / "a.pen")
    file = open_packed(tmp_path / "a.pen").files[0]
    for index, item in enumerate(mixed_source(3).listed):
        expected = PIL.Image.open(io.BytesIO(item.data)).convert("RGB")
        np.testing.assert_array_equal(np.asarray(read_image(file, index)), np.asarray(expected))


@pytest.fixture
def write_folder(tmp_path):
    def write(files):
        root = tmp_path / "data"
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        return root

    return write
