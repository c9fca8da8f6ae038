"""What Pillow and libtiff say about a file goes to whoever reads it, and to nobody else."""

import io
import threading
import warnings

import numpy as np
import PIL.Image
import pytest

from penstock import Loader, pack
from penstock.pillow_messages import heard


def odd_palette():
    """A PNG of which Pillow warns: a palette with transparency in bytes."""
    image = PIL.Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8) % 4, "P")
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    file = io.BytesIO()
    image.save(file, "PNG", transparency=bytes([0, 128, 255, 64]))
    return file.getvalue()


def damaged_fax():
    """A TIFF of which libtiff complains on stderr, but that Pillow opens."""
    pixels = (np.add.outer(np.arange(64), np.arange(64)) // 7 % 2).astype(np.bool_)
    file = io.BytesIO()
    PIL.Image.fromarray(pixels).save(file, "TIFF", compression="group4")
    data = bytearray(file.getvalue())
    with PIL.Image.open(io.BytesIO(data)) as image:
        start = image.tag_v2[273][0]
    data[start + 60 : start + 80] = b"Z" * 20
    return bytes(data)


@pytest.fixture
def odd_folder(tmp_path):
    root = tmp_path / "data"
    for name, data in {"a/palette.png": odd_palette(), "b/fax.tif": damaged_fax()}.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(data)
    return root


def decode(data):
    try:
        with PIL.Image.open(io.BytesIO(data)) as image:
            image.convert("RGB")
    except OSError:
        pass


def test_messages_are_those_of_the_block(capfd):
    with heard() as messages:
        decode(odd_palette())
        decode(odd_palette())
    assert messages.texts == [
        "Palette images with Transparency expressed in bytes should be converted to RGBA images"
    ]
    with heard() as messages:
        decode(damaged_fax())
    assert any("Fax4Decode" in text for text in messages.texts)
    assert capfd.readouterr().err == ""


def test_other_threads_keep_their_warnings(capfd):
    with heard() as messages, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other = threading.Thread(target=lambda: (decode(odd_palette()), decode(damaged_fax())))
        other.start()
        other.join()
    assert [str(warning.message)[:14] for warning in caught] == ["Palette images"]
    assert "Fax4Decode" in capfd.readouterr().err
    assert messages.texts == []


def test_warnings_of_others_in_the_block_are_left_alone():
    with pytest.warns(UserWarning, match="mine"), heard() as messages:
        warnings.warn("mine", stacklevel=1)
    assert messages.texts == []


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_a_loader_notes_messages_once_for_each_file(odd_folder, capfd, backend):
    loader = Loader(odd_folder, output="numpy", on_error="skip", backend=backend)
    for _ in range(2):
        list(loader)
    assert capfd.readouterr().err == ""
    told = {entry.file: str(entry) for entry in loader.ledger}
    assert "Pillow says: Palette images" in told["a/palette.png"]
    assert "Fax4Decode" in told["b/fax.tif"]


def test_a_pack_tells_messages_in_its_summary(odd_folder, tmp_path, capfd):
    summary = pack(odd_folder, tmp_path / "a.pen", on_error="skip")
    assert capfd.readouterr().err == ""
    (remark,) = [remark for remark in summary.remarks if "Palette" in remark]
    assert remark.startswith("1 warned of by Pillow: Palette images")
    assert remark.endswith("(first: a/palette.png).")
    assert any("Palette images" in line for line in summary.lines())
    assert any("Fax4Decode" in line for line in summary.lines())
