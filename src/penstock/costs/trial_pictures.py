"""Pictures that a calibration makes for itself, in all storages that the core reads."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import PIL.Image

from penstock._core import Engine, EnginePart, Route, Storage, encode_record
from penstock.geometry import Size, Sizes
from penstock.planner.decode_work import Sources

Pixels = npt.NDArray[np.uint8]

SMALL, MEDIUM, LARGE = Size(64, 64), Size(375, 500), Size(1536, 2048)

_SLACK = bytes(64)  # the decoder may read a little past the end
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Pictures:
    """Some pictures of one size and storage, in a part that the core has read."""

    part: EnginePart
    sources: Sources

    @property
    def positions(self) -> npt.NDArray[np.int32]:
        """All of them."""
        return np.arange(len(self.sources.sizes), dtype=np.int32)


def make_photo(size: Size, seed: int) -> Pixels:
    """Noise with about as much contrast in every octave, as photos have; more of it in places."""
    random = np.random.default_rng(seed)
    light = np.zeros((size.height, size.width), dtype=np.float32)
    colour = [np.zeros_like(light) for _ in range(3)]
    cell = 256
    while cell >= 1:
        shape = (size.height // cell + 2, size.width // cell + 2)
        light += 26 * _enlarged(random.normal(size=shape), size) * (0.35 if cell == 1 else 1)
        if cell >= 16:
            for channel in range(3):
                colour[channel] += 12 * _enlarged(random.normal(size=shape), size)
        cell //= 2
    smooth = np.clip(_enlarged(random.normal(size=(3, 3)), size) + 1, 0.15, 2)
    planes = [128 + light * smooth + plane for plane in colour]
    return np.clip(np.stack(planes, axis=2), 0, 255).astype(np.uint8)


def _enlarged(noise: npt.NDArray[np.float64], size: Size) -> npt.NDArray[np.float32]:
    image = PIL.Image.fromarray(noise.astype(np.float32))
    resized = image.resize((size.width, size.height), PIL.Image.Resampling.BICUBIC)
    return np.asarray(resized)


def as_jpeg(
    photo: Pixels, sampling: str, *, progressive: bool = False, quality: int | None = None
) -> bytes:
    """Encode a photo; `sampling` is 4:4:4, 4:2:0 or gray, and photos with colour are kept well."""
    image = PIL.Image.fromarray(photo)
    if sampling == "gray":
        image = image.convert("L")
    file = io.BytesIO()
    options = {} if sampling == "gray" else {"subsampling": sampling}
    quality = quality or (93 if sampling == "4:4:4" else 82)
    image.save(file, "JPEG", quality=quality, progressive=progressive, **options)
    return file.getvalue()


def values_per_pixel(sampling: str) -> float:
    """How many values a JPEG keeps of each pixel."""
    return {"4:4:4": 3.0, "4:2:0": 1.5, "gray": 1.0}[sampling]


def open_pixels(engine: Engine, photos: Sequence[Pixels], count: int) -> Pictures:
    """Photos as pixels, repeated up to `count`."""
    part = engine.begin(0, count)
    for position in range(count):
        part.set_pixels(position, photos[position % len(photos)])
    size = Size(*photos[0].shape[:2])
    sources = Sources.typical(_repeated(size, count), Storage.RAW)
    return Pictures(part, sources)


def open_jpegs(
    engine: Engine, files: Sequence[bytes], count: int, size: Size, sampling: str, storage: Storage
) -> Pictures:
    """Encoded photos, repeated up to `count`; as tiles if that is the storage."""
    encoded = [encode_record(file)[1] if storage == Storage.DCT else file for file in files]
    records = Records([encoded[at % len(encoded)] for at in range(count)], size, storage)
    part = records.open(engine)
    routes = np.full(count, Route.BASELINE) if storage == Storage.DCT else part.route
    sources = Sources(
        _repeated(size, count),
        np.full(count, storage, dtype=np.int64),
        routes.astype(np.int64),
        records.lengths.astype(np.float64),
        np.full(count, values_per_pixel(sampling)),
        are_files=False,
    )
    return Pictures(part, sources)


class Records:
    """Encoded images of one size in memory, as the core takes those of a packed file."""

    def __init__(self, encoded: Sequence[bytes], size: Size, storage: Storage) -> None:
        count = len(encoded)
        self.lengths = np.array([len(record) for record in encoded], dtype=np.int64)
        self._memory = [np.frombuffer(record + _SLACK, np.uint8) for record in encoded]
        self._addresses = np.array([record.ctypes.data for record in self._memory], dtype=np.int64)
        self._storages = np.full(count, storage, dtype=np.int32)
        self._heights = np.full(count, size.height, dtype=np.int32)
        self._widths = np.full(count, size.width, dtype=np.int32)

    def open(self, engine: Engine) -> EnginePart:
        """A part of all of them, read."""
        sizes = self._heights, self._widths
        given = self._addresses, self.lengths, self._storages, *sizes
        part = engine.open_mapped(0, self._memory, *given)
        every = np.arange(len(self.lengths), dtype=np.int32)
        part.read_mapped(every, np.zeros(len(every), dtype=np.int32), self._heights)
        part.wait(_TIMEOUT_S)
        return part


def _repeated(size: Size, count: int) -> Sizes:
    return Sizes(
        np.full(count, size.height, dtype=np.int64), np.full(count, size.width, dtype=np.int64)
    )
