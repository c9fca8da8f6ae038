"""A stand-in for the core's code of JPEGs as records: quick, and as strict about its input."""

import io
import zlib

import PIL.Image

from penstock.errors import PackError
from penstock.packing.parts import Layout
from penstock.packing.records import JpegRecord

_START = b"FAKEDCT:"


def encode_jpeg(data):
    """Compress the file as it is; what Pillow does not open is kept."""
    try:
        with PIL.Image.open(io.BytesIO(data)) as image:
            height, width = image.height, image.width
            orientation = image.getexif().get(0x0112, 1)
    except OSError as error:
        return JpegRecord("jpeg", data, 0, 0, 1, identical=True, reason=str(error))
    record = _START + zlib.compress(data)
    return JpegRecord("dct", record, height, width, orientation, identical=True, reason="")


def rebuild_jpeg(record):
    """Undo `encode_jpeg`."""
    if not record.startswith(_START):
        raise PackError("its coefficients cannot be read (no record)")
    return zlib.decompress(record[len(_START) :])


def check_tiles(record):
    """Decode the image, and return its size."""
    with PIL.Image.open(io.BytesIO(rebuild_jpeg(record))) as image:
        image.load()
        return image.height, image.width


def tile_layout(record):
    """A head, all rows, and a byte behind them."""
    if not bytes(record[: len(_START)]) == _START:
        raise PackError("its coefficients cannot be read (no record)")
    return Layout((len(_START), len(record) - len(_START) - 1, 1), rows=65535, around=0)
