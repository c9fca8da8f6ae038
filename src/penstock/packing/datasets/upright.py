"""Pictures that say that they are to be turned before they are shown.

Cameras write this as EXIF or XMP data. Pillow and torchvision do not turn such pictures when they
open them; Hugging Face's `datasets` does, so that whoever reads its data must do the same.
"""

from __future__ import annotations

import io

import PIL.Image
import PIL.ImageOps

from penstock.limits import limits_in_force

_ORIENTATION = 0x0112
_TURNED = range(2, 9)  # 1 is upright
_NO_PLACE_FOR_IT = (b"BM",)  # formats without such data
_PLACES = {
    b"\x89PNG": (b"eXIf", b"Raw profile type exif", b"XML:com.adobe.xmp"),
    b"RIFF": (b"EXIF", b"XMP "),  # WebP
}
_APP1, _SCAN = 0xE1, 0xDA


def upright_file(content: bytes | memoryview) -> bytes | None:
    """Return a PNG of the turned picture; None if it is upright, or no picture that can be read."""
    if not _may_say_so(content):
        return None
    try:
        with PIL.Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > limits_in_force().pixels:
                return None  # too large to be decoded: whoever decodes it says so
            image.load()
            if image.getexif().get(_ORIENTATION) not in _TURNED:
                return None
            turned = PIL.ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, SyntaxError, ValueError, PIL.Image.DecompressionBombError):
        return None  # whoever decodes it says what is wrong
    file = io.BytesIO()
    turned.save(file, "PNG", compress_level=1)
    return file.getvalue()


def _may_say_so(content: bytes | memoryview) -> bool:
    """Whether it is worth asking Pillow, which is slow."""
    start = bytes(content[:4])
    if start.startswith(b"\xff\xd8"):
        return _jpeg_has_notes(content)
    if start.startswith(_NO_PLACE_FOR_IT):
        return False
    places = _PLACES.get(start)
    whole = b"" if places is None else bytes(content)
    return places is None or any(place in whole for place in places)


def _jpeg_has_notes(content: bytes | memoryview) -> bool:
    """Whether a JPEG's header has EXIF or XMP data."""
    position = 2
    while position + 4 <= len(content) and content[position] == 0xFF:
        marker = content[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        if marker in {_APP1, _SCAN}:
            return marker == _APP1
        position += 2 + int.from_bytes(content[position + 2 : position + 4], "big")
    return False
