"""`penstock.ray.read`: rows of Ray Data that are a Loader's samples."""

import numpy as np
import pytest

import penstock as ps
from past_batches import CROPS, ENDED, SEED, write_boxed
from penstock import transforms as T
from penstock.errors import LoaderError

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("pyarrow", reason="Ray Data needs PyArrow")
pr = pytest.importorskip("penstock.ray")

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture(autouse=True)
def _quiet_and_in_order(cluster):
    context = cluster.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True


def test_rows_are_a_loaders_samples(folder):
    rows = pr.read(folder, transform=CROPS, seed=SEED, epoch=2, override_num_blocks=3).take_all()
    loader = ps.Loader(
        folder, transform=CROPS, seed=SEED, batch_size=23, layout="hwc", output="numpy"
    )
    loader.set_epoch(2)
    [(images, labels)] = loader
    assert len(rows) == 23
    for row, image, label in zip(rows, images, labels, strict=True):
        np.testing.assert_array_equal(row["image"], image)
        assert row["image"].dtype == np.uint8
        assert row["label"] == label
        assert row["name"].endswith(".jpg")


def test_images_of_any_size_and_files_as_they_are(folder, tmp_path):
    ps.pack(folder, tmp_path / "a.pen")
    files = sorted(folder.rglob("*.jpg"))
    rows = pr.read(tmp_path / "a.pen", decode=False, override_num_blocks=2).take_all()
    assert [row["bytes"] for row in rows] == [file.read_bytes() for file in files]
    pixels = pr.read(tmp_path / "a.pen", override_num_blocks=2).take_all()
    for row, file in zip(pixels, files, strict=True):
        np.testing.assert_array_equal(row["image"], ps.decode(file))


def test_boxes_follow_the_images(tmp_path):
    data = write_boxed(tmp_path)
    transform = T.Compose([T.RandomHorizontalFlip(), T.Resize((30, 40))])
    rows = pr.read(data, transform=transform, seed=SEED, override_num_blocks=2).take_all()
    loader = ps.Loader(
        data, transform=transform, seed=SEED, batch_size=9, layout="hwc", output="numpy"
    )
    [(images, targets)] = loader
    for row, image, target in zip(rows, images, targets, strict=True):
        np.testing.assert_array_equal(row["image"], image)
        np.testing.assert_array_equal(row["boxes"], target["boxes"])
        assert row["box_labels"].tolist() == target["labels"].tolist()


@pytest.mark.parametrize("transform", [ENDED, T.MultiView([CROPS, CROPS])])
def test_what_no_row_can_have(folder, transform):
    with pytest.raises(LoaderError, match="rows have one image each, in uint8"):
        pr.read(folder, transform=transform)


def test_files_take_no_transform(folder):
    with pytest.raises(LoaderError, match="to which no transform is done"):
        pr.read(folder, transform=CROPS, decode=False)
