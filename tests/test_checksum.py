"""Our checksum is zlib's, for any bytes at any place in memory."""

import zlib

import numpy as np
import pytest

from penstock._core import checksum

CONTENT = np.random.default_rng(0).bytes(1 << 20)


@pytest.mark.parametrize("place", [0, 1, 7, 63])
def test_every_length(place):
    for length in (*range(300), 1000, 4095, 4096, 100_001, len(CONTENT) - place):
        some = memoryview(CONTENT)[place : place + length]
        assert checksum(some) == zlib.crc32(some)


def test_it_goes_on_from_the_bytes_before():
    before = checksum(CONTENT[:70_000])

    assert checksum(CONTENT[70_000:], before) == zlib.crc32(CONTENT)


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda some: np.frombuffer(some, "u1")]
)
def test_it_takes_bytes_wherever_they_lie(kind):
    assert checksum(kind(CONTENT)) == zlib.crc32(CONTENT)
