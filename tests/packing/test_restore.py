"""JPEG files come back from their records: the same bytes, or at least the same pixels."""

from __future__ import annotations

import io
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import PIL.Image
import pytest

from penstock import _core


def jpeg_of(photo: np.ndarray, **options: object) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(photo).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def pixels_of(data: bytes) -> np.ndarray:
    with PIL.Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def check_identical(data: bytes) -> None:
    storage, record, facts, reason = _core.encode_record(data)

    assert (storage, facts["identical"], reason) == ("dct", True, "")
    assert _core.rebuild_file(record) == data


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize(
    "coding",
    [
        {},
        {"optimize": True},
        {"progressive": True},
        {"restart_marker_blocks": 3},
        {"progressive": True, "restart_marker_rows": 1},
    ],
    ids=str,
)
def test_what_pillow_writes_is_identical(photo, subsampling, coding) -> None:
    for quality in (30, 75, 95):
        check_identical(jpeg_of(photo, subsampling=subsampling, quality=quality, **coding))


def test_gray_and_rgb_are_identical(photo) -> None:
    check_identical(jpeg_of(photo[..., 0]))
    check_identical(jpeg_of(photo, keep_rgb=True))


def test_bytes_around_the_image_are_kept(photo) -> None:
    """A comment, EXIF data, a colour profile, and a video behind the image."""
    data = jpeg_of(
        photo,
        comment=b"by hand",
        exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0",
        icc_profile=b"p" * 500,
    )
    check_identical(data + bytes(range(256)) * 40)


def test_facts(photo) -> None:
    _, _, facts, _ = _core.encode_record(jpeg_of(photo))

    assert (facts["height"], facts["width"]) == photo.shape[:2]
    assert (facts["components"], facts["orientation"]) == (3, 1)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"not a JPEG at all"])
def test_what_is_no_jpeg_is_its_own_record(data) -> None:
    storage, record, facts, reason = _core.encode_record(data)

    assert (storage, record, facts["identical"]) == ("jpeg", data, True)
    assert reason


def test_four_components_are_their_own_record(photo) -> None:
    buffer = io.BytesIO()
    PIL.Image.fromarray(photo).convert("CMYK").save(buffer, "JPEG")
    storage, record, _, reason = _core.encode_record(buffer.getvalue())

    assert (storage, record) == ("jpeg", buffer.getvalue())
    assert reason == "neither gray nor three components"


def test_damaged_records(photo) -> None:
    """An error or another file, but no crash; a cut record is always an error."""
    _, record, _, _ = _core.encode_record(jpeg_of(photo[:40, :50]))
    draws = random.Random(0)
    for _ in range(500):
        damaged = bytearray(record)
        damaged[draws.randrange(len(record))] ^= 1 << draws.randrange(8)
        try:
            _core.rebuild_file(bytes(damaged))
        except ValueError as error:
            assert str(error)
    for size in range(0, len(record) - 64, 7):
        with pytest.raises(ValueError):
            _core.rebuild_file(record[:size])


def test_threads_do_not_disturb_each_other(photo) -> None:
    files = [jpeg_of(photo[i:], quality=60 + i) for i in range(16)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(_core.encode_record, files))

    assert [_core.rebuild_file(record) for _, record, _, _ in results] == files


@pytest.mark.parametrize("name", ["in1k", "large", "detect"])
def test_real_photos_are_identical(data_folder, name) -> None:
    paths = [
        path for path in (data_folder / name).rglob("*") if path.suffix.lower() in {".jpg", ".jpeg"}
    ]
    if not paths:
        pytest.skip(f"no outside data: no JPEGs in {data_folder / name}")
    others = []
    for path in paths:
        data = path.read_bytes()
        storage, record, facts, reason = _core.encode_record(data)
        if storage == "dct" and facts["identical"]:
            assert _core.rebuild_file(record) == data, path
        else:
            others.append((path.name, storage, reason))

    assert len(others) <= 0.01 * len(paths), others


@pytest.mark.filterwarnings("ignore")
def test_every_tough_file(tough) -> None:
    """The same bytes, the same pixels, or kept as it is."""
    outcomes = {"bytes": 0, "pixels": 0, "kept": 0}
    for file in tough:
        data = file.read_bytes()
        storage, record, facts, reason = _core.encode_record(data)
        if storage == "jpeg":
            assert record == data
            assert reason
            outcomes["kept"] += 1
            continue
        rebuilt = _core.rebuild_file(record)
        assert (rebuilt == data) == facts["identical"], file
        np.testing.assert_array_equal(pixels_of(rebuilt), pixels_of(data), err_msg=str(file))
        outcomes["bytes" if facts["identical"] else "pixels"] += 1

    assert outcomes["bytes"] >= 110
