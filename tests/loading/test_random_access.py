"""Any samples at any time: those of a Loader, whoever asks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from penstock import Loader
from penstock import transforms as T
from penstock.errors import DecodeError

CROPS = T.RandomResizedCrop(24)


@pytest.fixture
def loader(folder):
    with_names = Loader(folder, transform=CROPS, batch_size=23, output="numpy", columns=["name"])
    yield with_names
    with_names.close()


@pytest.fixture
def access(loader):
    opened = loader.random_access()
    yield opened
    opened.close()


def read(access, samples, epochs=0, keys=None):
    samples = np.array(samples)
    epochs = np.broadcast_to(epochs, samples.shape)
    return access.read(samples, epochs, samples if keys is None else np.array(keys))


def test_samples_are_the_loaders(loader, access):
    epochs = [images for _ in range(3) for images, _ in loader]
    images, names = read(access, [5, 0, 5, 22], epochs=[2, 0, 1, 2])

    np.testing.assert_array_equal(images[0], epochs[2][5])
    np.testing.assert_array_equal(images[1], epochs[0][0])
    np.testing.assert_array_equal(images[2], epochs[1][5])
    np.testing.assert_array_equal(images[3], epochs[2][22])
    assert names[0] == names[2]


def test_keys_decide_on_draws(access):
    first, _ = read(access, [3, 3, 3], keys=[3, 3 + (7 << 32), 3])

    np.testing.assert_array_equal(first[0], first[2])
    assert not np.array_equal(first[0], first[1])


def test_batches_that_are_kept_stay_as_they_are(access):
    kept = [(batch, batch.copy()) for batch in (read(access, [n, n + 1])[0] for n in range(20))]

    for batch, copy in kept:
        np.testing.assert_array_equal(batch, copy)


def test_threads_may_ask_at_once(access):
    expected = [read(access, [n])[0].copy() for n in range(23)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: read(access, [n])[0], range(23)))

    for image, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(image, other)


def test_closed_and_asked_again(access):
    before = read(access, [1])[0].copy()
    access.close()
    access.close()

    np.testing.assert_array_equal(read(access, [1])[0], before)


def test_bad_files_are_errors(broken_folder):
    opened = Loader(broken_folder, transform=CROPS, output="numpy").random_access()
    with pytest.raises(DecodeError):
        read(opened, np.arange(len(Loader(broken_folder, output="numpy").source)))
    opened.close()
