"""What a file says beside its pixels, to whoever asks an image of it."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from penstock.deferring.canvases import Canvas
from penstock.deferring.carry_out import open_with_pillow
from penstock.deferring.chain import Chain, JpegFile

_TURNED_BY_XMP = b"tiff:Orientation"  # where EXIF data say nothing
_SAVED_AS_BEFORE = ("quality", "subsampling", "qtables")  # those of the file, if they are "keep"


class About:
    """A file as Pillow opens it, if somebody asks."""

    __slots__ = ("_file", "_opened")

    def __init__(self, file: JpegFile | None, opened: Any = None) -> None:
        self._file = file
        self._opened = opened

    @property
    def opened(self) -> Any:
        """The file as Pillow opens it."""
        if self._opened is None:
            self._opened = self.open_again()
        return self._opened

    def open_again(self) -> Any:
        """The same, apart from all others."""
        return self._opened if self._file is None else open_with_pillow(io.BytesIO(self._file.data))


class FileImage(Image.Image):
    """An image of a file, or made of one, that Pillow need not have opened."""

    _chain: Chain | None = None  # how its pixels are made
    _adopted: Any = None  # or an image of Pillow's that stands for it
    _canvas: Canvas | None = None  # the same, if it has one colour
    _about: About | None = None
    _info: dict[Any, Any] | None = None
    filename: str | bytes  # of a file only
    _is_file = False  # as `Image.open` gives it, rather than made of one
    _is_loaded = False  # whether Pillow would have decoded it by now
    _is_drafted = False  # whether it was asked to be decoded smaller

    @property
    def info(self) -> dict[Any, Any]:
        """What the file says, read when asked for."""
        if self._info is None:
            opened = None if self._about is None else self._about.opened
            self._info = {} if opened is None else opened._copy_info()  # noqa: SLF001 (as copies do)
        return self._info

    @info.setter
    def info(self, info: dict[Any, Any]) -> None:
        self._info = info
        if self._adopted is not None:
            self._adopted.info = info

    @property
    def has_transparency(self) -> bool:
        """Whether a level or colour of it stands for nothing; JPEGs have none."""
        return "transparency" in (self._info or {})

    @property
    def orientation(self) -> int | None:
        """The EXIF orientation of an untouched file; None if that has to be looked up."""
        source = None if self._chain is None else self._chain.source
        if not self._is_file or not isinstance(source, JpegFile):
            return None
        was_asked = self._exif is not None or self._info is not None  # and perhaps changed
        is_turned_by_xmp = source.data.find(_TURNED_BY_XMP, 0, source.header_bytes) >= 0
        return None if was_asked or is_turned_by_xmp else source.orientation

    def getexif(self) -> Image.Exif:
        """Return the EXIF data, in some formats found behind the pixels."""
        if self._adopted is not None and self._exif is None:
            self._exif = self._adopted.getexif()
        return super().getexif()

    def verify(self) -> None:
        """Have Pillow check the file, which then has to be opened again."""
        if not self._is_file or self._about is None:
            return
        opened = self._about.opened
        opened.verify()
        if not self._is_loaded:
            self._chain, self._adopted = None, opened

    def save(self, fp: Any, format: str | None = None, **params: Any) -> None:
        """Write it to a file; the settings of a JPEG are known to Pillow's own class alone."""
        keeps = any(isinstance(params.get(name), str) for name in _SAVED_AS_BEFORE)
        if not (keeps and self._is_file and self._about is not None):
            super().save(fp, format, **params)
            return
        opened = self._about.open_again()
        opened.load()
        opened.im = self.im
        opened._mode, opened._size = self.mode, self.size  # noqa: SLF001 (as Pillow's methods do)
        opened.info = self.info
        opened.save(fp, format, **params)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not self._is_file or self._about is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._about.opened, name)
