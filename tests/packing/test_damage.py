"""Damaged and hostile files are errors with a sentence, and verify finds every flipped bit."""

import os
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packing.samples import mixed_source
from penstock.errors import PackError
from penstock.packing import format
from penstock.packing.pack import pack
from penstock.packing.read import PackFile
from penstock.packing.shards import MANIFEST, open_packed
from penstock.packing.verify import verify

pytestmark = pytest.mark.usefixtures("fake_codec")


@pytest.fixture
def small(tmp_path):
    """The path of a small packed file, and its bytes."""
    path = tmp_path / "small.pen"
    pack(mixed_source(3), path)
    return path, path.read_bytes()


def test_every_truncation_is_an_error(small):
    path, whole = small
    for length in reversed(range(len(whole))):
        os.truncate(path, length)
        with pytest.raises(PackError, match=r"small\.pen"):
            PackFile(path)


@pytest.mark.slow
def test_every_flipped_bit_is_found(small):
    path, whole = small
    # Every byte, with bits in turn: all 8 of each take too long, and CRC-32 finds one like another.
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(whole):
            write_at(file, place, byte ^ 1 << place % 8)
            assert not verify(path, threads=1).intact, f"bit {place % 8} of byte {place}"
            write_at(file, place, byte)
    assert verify(path).intact


def write_at(file, place, byte):
    file.seek(place)
    file.write(bytes([byte]))


def to_forge(tmp_path_factory):
    """A packed file, its bytes, and what its end says."""
    path = tmp_path_factory.mktemp("forged") / "forged.pen"
    pack(mixed_source(2), path)
    raw = bytearray(path.read_bytes())
    tail = format.Tail.from_bytes(bytes(raw[-64:]), len(raw), "")
    return path, raw, tail


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_columns_with_false_values_never_crash(tmp_path_factory, data):
    """Checksums are no defence against a forger, so every value is looked at when used."""
    path, raw, tail = to_forge(tmp_path_factory)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(tail.records_end, tail.directory_offset - 1))
        raw[place] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    file = PackFile(path)
    for index in range(2):
        for use in (file.sample, file.record, *(c.__getitem__ for c in file.columns.values())):
            try:
                use(index)
            except PackError as error:
                assert str(path) in str(error)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_forged_directories_never_crash(tmp_path_factory, data):
    path, raw, tail = to_forge(tmp_path_factory)
    start, end = tail.directory_offset, tail.directory_offset + tail.directory_bytes
    numbers = st.sampled_from([0, 1, 7, 63, 2**31, 2**32 - 1])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(start, end - 4))
        struct.pack_into("<I", raw, place, data.draw(numbers))
    directory = bytes(raw[start:end])
    file_id = format.id_of(directory)
    places = (start, len(directory), tail.samples, tail.records_end, tail.columns)
    raw[-64:] = format.Tail(*places, zlib.crc32(directory), file_id).to_bytes()
    raw[:64] = format.Header(0, file_id).to_bytes()
    path.write_bytes(raw)
    try:
        PackFile(path).sample(0)
    except PackError as error:
        assert str(path) in str(error)


def forged_header(version=1, flags=0):
    head = struct.pack("<8sII16s28x", format.MAGIC, version, flags, bytes(16))
    return head + struct.pack("<I", zlib.crc32(head))


@pytest.mark.parametrize(
    ("start", "told"),
    [
        (b"", "0 bytes, too short for a packed file"),
        (b"\xff\xd8\xff\xe0" + bytes(200), r"not a packed file \(first bytes FF D8 FF E0"),
        (forged_header(version=3) + bytes(200), "format 3; this version reads 1-2. Upgrade"),
        (forged_header(flags=6) + bytes(200), "flags 0x6 are unknown"),
        (forged_header() + bytes(200), "the end is missing"),
    ],
)
def test_other_files_are_named(tmp_path, start, told):
    path = tmp_path / "other.pen"
    path.write_bytes(start)
    with pytest.raises(PackError, match=told):
        PackFile(path)


def test_missing_files_are_errors(tmp_path):
    with pytest.raises(PackError, match=r"no such file.*penstock\.pack"):
        open_packed(tmp_path / "none.pen")
    with pytest.raises(PackError, match=r"no such file.*penstock\.pack"):
        verify(tmp_path / "none.pen")
    with pytest.raises(PackError, match="not a folder of shards"):
        open_packed(tmp_path)


def test_every_changed_byte_of_a_manifest_is_found(tmp_path):
    pack(mixed_source(5), tmp_path / "set", shards=2)
    manifest = tmp_path / "set" / MANIFEST
    whole = manifest.read_bytes()
    with manifest.open("r+b", buffering=0) as file:
        for place, byte in enumerate(whole):
            write_at(file, place, byte ^ 1 << place % 8)
            assert not verify(tmp_path / "set").intact, place
            write_at(file, place, byte)


def test_a_bomb_of_pixels_is_not_inflated(tmp_path):
    from penstock.packing.format import RECORD_ZLIB
    from penstock.packing.records import decode_pixels

    bomb = zlib.compress(bytes(50_000_000))
    with pytest.raises(PackError, match="needs 12 bytes of pixels, got 13"):
        decode_pixels(bomb, RECORD_ZLIB, 2, 2)
    with pytest.raises(PackError, match="not a zlib stream"):
        decode_pixels(b"no stream", RECORD_ZLIB, 2, 2)
    np.testing.assert_array_equal(np.asarray(decode_pixels(bytes(12), 0, 2, 2)), 0)
