import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.geometry import Size
from penstock.packing.datasets.annotations import draw_polygon, draw_segmentation

sides = st.integers(1, 40)
coordinates = st.one_of(st.integers(-10, 50), st.floats(-10, 50))
outlines = st.integers(3, 8).flatmap(
    lambda corners: st.lists(coordinates, min_size=2 * corners, max_size=2 * corners)
)


@given(height=sides, width=sides, outline=outlines)
def test_polygons_are_those_of_pycocotools(height, width, outline):
    mask = pytest.importorskip("pycocotools.mask")
    runs = mask.merge(mask.frPyObjects([[float(x) for x in outline]], height, width))

    got = draw_polygon(outline, Size(height, width), "outline")

    np.testing.assert_array_equal(got, mask.decode(runs).astype(bool))


@given(pixels=st.lists(st.booleans(), min_size=12, max_size=12))
def test_compressed_runs_are_those_of_pycocotools(pixels):
    mask = pytest.importorskip("pycocotools.mask")
    expected = np.array(pixels, np.uint8).reshape(3, 4)
    runs = mask.encode(np.asfortranarray(expected))
    segmentation = {"counts": runs["counts"].decode(), "size": [3, 4]}

    got = draw_segmentation(segmentation, Size(3, 4), "mask")

    np.testing.assert_array_equal(got, expected.astype(bool))


def test_a_square():
    got = draw_polygon([1, 1, 3, 1, 3, 3, 1, 3], Size(4, 5), "square")

    assert got.astype(int).tolist() == [[0] * 5, [0, 1, 1, 0, 0], [0, 1, 1, 0, 0], [0] * 5]
