import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("cv2")

import cv2

from penstock.deferring import opencv_hooks
from penstock.deferring.counts import Counts, deferring
from penstock.deferring.hooks import install
from tests.deferring.pictures import FILES, undecodable

ALL = FILES | {"undecodable": undecodable()}
FLAGS = (cv2.IMREAD_COLOR, cv2.IMREAD_GRAYSCALE, cv2.IMREAD_UNCHANGED, cv2.IMREAD_REDUCED_COLOR_2)


@pytest.fixture(autouse=True)
def _quiet():
    """OpenCV prints what it thinks of damaged files."""
    install()
    level = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    yield
    cv2.utils.logging.setLogLevel(level)


def attempt(function, *args, **options):
    try:
        return function(*args, **options)
    except Exception as error:
        return type(error)


def is_same(one, other):
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.dtype == other.dtype and (one == other).all()
    return one is other


@pytest.mark.parametrize("name", ALL)
def test_arrays_are_opencvs(tmp_path, name):
    path = tmp_path / "one"
    path.write_bytes(ALL[name])
    coded = np.frombuffer(ALL[name], np.uint8)
    ways = [(cv2.imdecode, (coded, flags)) for flags in FLAGS]
    ways += [(cv2.imread, (str(path), flags)) for flags in FLAGS]
    ways += [(cv2.imread, (str(path),)), (cv2.imread, (path,)), (cv2.imread, (str(path) + "x",))]
    for function, args in ways:
        expected = attempt(function, *args)
        with deferring(Counts()):
            found = attempt(function, *args)

        assert is_same(found, expected), args[1:]
        if isinstance(found, np.ndarray):
            assert found.flags.writeable
            assert found.flags.c_contiguous


def test_other_arguments_are_opencvs():
    coded = np.frombuffer(ALL["rgb"], np.uint8)
    given = ((coded.tobytes(), 1), (coded.astype(np.int16), 1), (None, 1), (coded[:, None], 1))
    for args in (*given, (), (coded,), (coded, 1, None), (coded, "colour")):
        expected = attempt(cv2.imdecode, *args)
        with deferring(Counts()):
            assert is_same(attempt(cv2.imdecode, *args), expected)


def test_where_ours_fails_opencv_decodes(monkeypatch):
    """A Dataset that leaves out what cannot be read must not leave it out for us."""

    def fail(_chain):
        raise MemoryError

    monkeypatch.setattr(opencv_hooks, "pixels_of", fail)
    coded = np.frombuffer(ALL["rgb"], np.uint8)
    with deferring(Counts()):
        assert cv2.imdecode(coded, cv2.IMREAD_COLOR) is not None
