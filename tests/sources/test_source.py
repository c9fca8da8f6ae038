"""The path table gives back what went in, and refuses indices beyond it."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sources.source import PathTable

PATHS = st.lists(st.binary(max_size=9).map(lambda b: b.decode("utf-8", "surrogateescape")))


@given(paths=PATHS)
def test_gives_back_what_went_in(paths: list[str]) -> None:
    table = PathTable.from_paths(paths)
    assert list(table) == paths
    order = np.random.default_rng(len(paths)).permutation(len(paths))
    assert table.at(order) == [paths[i] for i in order]


@pytest.mark.parametrize("index", [-1, 2, 2**40])
def test_indices_beyond_the_end_are_refused(index: int) -> None:
    table = PathTable.from_paths(["a", "b"])
    with pytest.raises(IndexError, match=f"index {index} is out of range: there are 2 paths"):
        table.at(np.array([0, index]))


def test_memory_is_the_names_and_an_offset_each() -> None:
    table = PathTable.from_paths(f"n01440764/{i:08}.JPEG" for i in range(10_000))
    assert sys.getsizeof(table.blob) + table.offsets.nbytes < 10_000 * (23 + 8) + 1_000
