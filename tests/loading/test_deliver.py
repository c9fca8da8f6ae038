"""Targets of a batch as dictionaries, and padded to one shape."""

import numpy as np
import pytest

from penstock.errors import LoaderError
from penstock.loading.deliver import list_targets, pad_targets
from penstock.transforms.targets import Targets, read_targets

IMAGE_IDS = np.array([7, 41, 3])


@pytest.fixture
def targets() -> Targets:
    return read_targets(
        [0, 2, 2, 3],
        boxes=[[1, 2, 3, 4], [5, 6, 7, 8], [0, 0, 9, 9]],
        format="xywh",
        labels=[4, 5, 6],
        keypoints=np.arange(18).reshape(3, 2, 3),
        extras={"iscrowd": np.array([0, 1, 0], dtype=np.uint8)},
    )


def test_one_dictionary_a_sample(targets):
    first, second, third = list_targets(targets, IMAGE_IDS, "numpy")

    np.testing.assert_array_equal(first["boxes"], [[1, 2, 3, 4], [5, 6, 7, 8]])
    np.testing.assert_array_equal(first["labels"], [4, 5])
    np.testing.assert_array_equal(first["iscrowd"], [0, 1])
    assert second["boxes"].shape == (0, 4)
    assert second["keypoints"].shape == (0, 2, 3)
    np.testing.assert_array_equal(third["keypoints"], np.arange(12, 18).reshape(1, 2, 3))
    assert [sample["image_id"] for sample in (first, second, third)] == [7, 41, 3]


def test_a_sample_does_not_share_memory_with_the_batch(targets):
    first = list_targets(targets, IMAGE_IDS, "numpy")[0]
    first["labels"][:] = 0

    np.testing.assert_array_equal(targets.labels, [4, 5, 6])


def test_columns_that_are_not_there_are_left_out():
    (only,) = list_targets(read_targets([0, 1], labels=[3]), IMAGE_IDS[:1], "numpy")

    assert set(only) == {"labels", "image_id"}


def test_tensors_have_the_types_that_detection_models_want(targets):
    torch = pytest.importorskip("torch")
    first = list_targets(targets, IMAGE_IDS, "torch")[0]
    padded = pad_targets(targets, IMAGE_IDS, "torch")

    assert first["boxes"].dtype == padded["boxes"].dtype == torch.float32
    assert first["labels"].dtype == padded["labels"].dtype == torch.int64
    assert first["boxes"].shape == (2, 4)
    assert padded["boxes"].shape == (3, 2, 4)


def test_padded(targets):
    padded = pad_targets(targets, IMAGE_IDS, "numpy")

    np.testing.assert_array_equal(padded["counts"], [2, 0, 1])
    np.testing.assert_array_equal(padded["labels"], [[4, 5], [-1, -1], [6, -1]])
    np.testing.assert_array_equal(padded["boxes"][2], [[0, 0, 9, 9], [0, 0, 0, 0]])
    np.testing.assert_array_equal(padded["image_id"], IMAGE_IDS)
    assert padded["keypoints"].shape == (3, 2, 2, 3)
    assert padded["iscrowd"].dtype == np.uint8


def test_padded_to_a_number_that_never_changes(targets):
    assert pad_targets(targets, IMAGE_IDS, "numpy", most=5)["boxes"].shape == (3, 5, 4)
    with pytest.raises(LoaderError, match="padded to 1 objects, but image 7 has 2"):
        pad_targets(targets, IMAGE_IDS, "numpy", most=1)


def test_no_objects_at_all():
    padded = pad_targets(Targets.empty(3), IMAGE_IDS, "numpy")

    listed = list_targets(Targets.empty(3), IMAGE_IDS, "numpy")

    assert padded["boxes"].shape == (3, 0, 4)
    assert [len(sample["labels"]) for sample in listed] == [0, 0, 0]
