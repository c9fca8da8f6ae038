"""Where there are no labels, none are made up."""

import shutil

import numpy as np
import pytest

import penstock as ps
from penstock import transforms as T
from penstock.errors import LoaderError, SourceError, TransformError

SMALL = {"transform": T.Resize((8, 8)), "batch_size": 3, "output": "numpy"}


@pytest.fixture
def files(folder):
    return sorted(folder.rglob("*.jpg"))


def test_a_list_of_files_without_labels_yields_images_alone(files):
    batches = list(ps.Loader(files, **SMALL))

    assert all(isinstance(images, np.ndarray) and images.ndim == 4 for images in batches)
    assert sum(len(images) for images in batches) == len(files)


def test_an_unlabelled_packed_file_yields_images_alone(files, tmp_path):
    ps.pack(files, tmp_path / "x.pen", progress=False)
    loader = ps.Loader(tmp_path / "x.pen", **SMALL)

    assert next(iter(loader)).shape == (3, 3, 8, 8)
    assert "no labels" in repr(loader)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_vectors_are_labels_too_in_lists_and_packed(files, tmp_path, dtype):
    labels = np.arange(len(files) * 4).reshape(-1, 4).astype(dtype)
    ps.pack(files, tmp_path / "x.pen", labels=labels, progress=False)
    for loader in (
        ps.Loader(files, labels=labels, **SMALL),
        ps.Loader(tmp_path / "x.pen", **SMALL),
    ):
        got = np.concatenate([given for _, given in loader])

        assert got.dtype == dtype
        np.testing.assert_array_equal(got, labels)


def test_mixing_needs_class_numbers(files):
    mix = {"batch_transform": T.MixUp(num_classes=5), "dtype": None}
    transform = T.Compose([T.Resize((8, 8)), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)])
    with pytest.raises(TransformError, match=r"mixes labels, but list of files: .* has none"):
        ps.Loader(files, transform=transform, **mix)
    with pytest.raises(TransformError, match="integer labels of 2 numbers"):
        ps.Loader(files, labels=[[0, 1]] * len(files), transform=transform, **mix)


def test_labels_are_looked_up_by_path(files):
    given = {str(path): len(files) - position for position, path in enumerate(files)}
    loader = ps.Loader(files[::-1], labels=given, **SMALL)

    assert np.concatenate([labels for _, labels in loader]).tolist() == list(
        range(1, len(files) + 1)
    )


def test_a_folder_with_a_dictionary_of_labels(folder, files):
    chosen = {str(path.relative_to(folder)): position for position, path in enumerate(files)}
    loader = ps.Loader(folder, labels=chosen, **SMALL)

    assert np.concatenate([labels for _, labels in loader]).tolist() == list(range(len(files)))
    with pytest.raises(SourceError, match=r"no file missing\.jpg in"):
        ps.Loader(folder, labels={"missing.jpg": 1})
    with pytest.raises(SourceError, match="a dictionary of labels: it is empty"):
        ps.Loader(folder, labels={})


def test_asking_for_labels_that_are_not_there_is_refused(files):
    with pytest.raises(LoaderError, match=r"targets='labels', but list of files: .* has none"):
        ps.Loader(files, targets="labels")


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (("train", "val"), True),
        (("Train", "TEST", "extra"), True),
        (("train",), True),
        (("bus", "car", "train"), False),
    ],
)
def test_splits_are_no_classes(tmp_path, files, names, refused):
    folder = tmp_path / "data"
    for name in names:
        (folder / name).mkdir(parents=True)
        shutil.copy(files[0], folder / name)
    if not refused:
        assert ps.Loader(folder).classes == names
        return
    with pytest.raises(SourceError, match=r"parts of a data set: .*\. Give one of them"):
        ps.Loader(folder)
    assert len(ps.Loader(ps.open_image_folder(folder, any_names=True)).classes) == len(names)
