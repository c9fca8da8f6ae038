"""
penstock's native core. Use the penstock package; nothing here is public.
"""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray
from typing_extensions import CapsuleType


class Effect(enum.IntEnum):
    """What is done to an image; cpp/base/effects.def tells more."""

    NONE = 0

    BRIGHTNESS = 1

    CONTRAST = 2

    SATURATION = 3

    HUE = 4

    SHARPNESS = 5

    POSTERIZE = 6

    SOLARIZE = 7

    SOLARIZE_ADD = 8

    INVERT = 9

    AUTOCONTRAST = 10

    EQUALIZE = 11

    GRAYSCALE = 12

    PERMUTE_CHANNELS = 13

    AFFINE = 14

    PERSPECTIVE = 15

    GAUSSIAN_BLUR = 16

    GAUSSIAN_NOISE = 17

    ERASE = 18

    ELASTIC = 19

    MIX_BEGIN = 20

    MIX_ADD = 21

    MIX_END = 22

    BOX_BLUR = 24

    TENSOR_BRIGHTNESS = 25

    TENSOR_CONTRAST = 26

    TENSOR_SATURATION = 27

    TENSOR_HUE = 28

    TENSOR_GRAYSCALE = 29

    OPENCV_GRAYSCALE = 30

class EffectFamily(enum.IntEnum):
    """What kind of thing an effect does."""

    NONE = 0

    COLOUR = 1

    FILTER = 2

    WARP = 3

    MIX = 4

    TENSOR = 5

class StepColumn(enum.IntEnum):
    """The fields of a step; cpp/engine/program.h tells more."""

    PAD_LEFT = 0

    PAD_TOP = 1

    PAD_RIGHT = 2

    PAD_BOTTOM = 3

    PAD_MODE = 4

    PAD_FILL = 5

    CROP_TOP = 6

    CROP_LEFT = 7

    CROP_HEIGHT = 8

    CROP_WIDTH = 9

    RESIZE_HEIGHT = 10

    RESIZE_WIDTH = 11

    FILTER = 12

    VERTICAL_FIRST = 13

    WINDOW_TOP = 14

    WINDOW_LEFT = 15

    WINDOW_HEIGHT = 16

    WINDOW_WIDTH = 17

    FLIP_HORIZONTAL = 18

    FLIP_VERTICAL = 19

    DCT_SCALE = 20

    DC_ALONE = 21

    GRAY = 22

    WEIGHTS = 23

    BOX_LEFT = 24

    BOX_TOP = 25

    BOX_RIGHT = 26

    BOX_BOTTOM = 27

class Weights(enum.IntEnum):
    """Whose weights a resize has."""

    PILLOW = 0

    TORCH_ANTIALIASED = 1

    TORCH_DIRECT = 2

    OPENCV = 3

class PadMode(enum.IntEnum):
    """How a border is filled."""

    CONSTANT = 0

    EDGE = 1

    REFLECT = 2

    SYMMETRIC = 3

class Element(enum.IntEnum):
    """The type of one value of a batch."""

    UINT8 = 0

    FLOAT16 = 1

    BFLOAT16 = 2

    FLOAT32 = 3

class MixKind(enum.IntEnum):
    """How an image takes part of another."""

    NONE = 0

    BLEND = 1

    PASTE = 2

class Storage(enum.IntEnum):
    """
    How a record holds its image. All but DEFLATED stand in packed files so; that is RAW, compressed.
    """

    JPEG = 0

    DCT = 1

    RAW = 2

    DEFLATED = 3

class Route(enum.IntEnum):
    """Who decodes an image."""

    BASELINE = 0

    LIBJPEG = 1

    PILLOW = 2

class Status(enum.IntEnum):
    """What became of an image when it was decoded."""

    OK = 0

    IRREGULAR = 1

    WARNED = 2

    FAILED = 3

EFFECT_NUMBERS: int = 32

FINISHED: int = -1

MOST_MEAN_PIXELS: int = 65793

def effect_table() -> list[tuple[Effect, EffectFamily, list[tuple[str, int, bool]]]]:
    """
    All effects: each with its family, and the name and count of its parameters and whether they may be left out.
    """

class Format:
    """How batch slots are written."""

    def __init__(self, element: Element, layout: str, scale: float, mean: Sequence[float], std: Sequence[float], divisor: float = 1.0, gain: Sequence[float] = [1.0, 1.0, 1.0], channels: int = 3, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, blue_first: bool = False) -> None:
        """
        `values`, three channels of 256 levels, stand for the arithmetic, which is still used where it gives the same bits. `blue_first` turns the order of three channels around.
        """

class Programs:
    """What is done to some samples."""

    def __init__(self, steps: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], step_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], effect_heads: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], effect_numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], effect_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def force_isa(name: str) -> None:
    """Use the kernels of this instruction set: scalar, avx2 or avx512."""

def active_isa() -> str:
    """The instruction set in use."""

def supported_isas() -> list[str]:
    """The instruction sets that this CPU has; the last is the best one."""

def mix_batch(batch: Annotated[NDArray, dict(shape=(None, None, None, None), order='C', device='cpu')], mixes: Sequence[tuple[int, int, float, float, Sequence[int]]], layout: str = 'chw') -> None:
    """
    Mix the images of a batch in place. Each of `mixes` is (partner, kind, weight of the image, weight of the partner, box to paste); kind is 0 none, 1 blend, 2 paste.
    """

def elastic_field(height: int, width: int, alpha: Sequence[float], sigma: Sequence[float], key: Sequence[int]) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None, None))]:
    """
    The displacement (dx, dy) in pixels of an elastic transform; alpha and sigma are (across, down).
    """

def solve_perspective(startpoints: object, endpoints: object) -> object:
    """
    The eight numbers that lead from four endpoints (x, y) back to the startpoints, as float32; None where whoever solves for them may round them to others.
    """

def warp_sources(matrices: Annotated[NDArray[numpy.float64], dict(shape=(None, 8), order='C', writable=False)], windows: Annotated[NDArray[numpy.int64], dict(shape=(None, 4), order='C', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Which part of an image of `sizes` (height, width) a warp needs for a window of its result. Windows and parts are (top, left, height, width); an affine matrix ends in two zeros.
    """

class BatchBuffer:
    """Memory of one batch, on loan from a BatchRing."""

    @property
    def bytes(self) -> int:
        """Size asked for."""

    @property
    def fresh(self) -> bool:
        """Whether the memory was never on loan before."""

    @property
    def address(self) -> int:
        """Where the memory begins, for page-locking."""

    @property
    def capacity(self) -> int:
        """Size of the memory, at least `bytes`."""

    @staticmethod
    def borrow(array: NDArray[numpy.uint8]) -> BatchBuffer:
        """
        A buffer over the memory of a one-dimensional, writable array of bytes.
        """

    @staticmethod
    def release_borrowed() -> None:
        """Let go of arrays that were lent and are not used any more."""

    def array(self, shape: Sequence[int], dtype: str) -> NDArray:
        """A NumPy array over the memory."""

class BatchRing:
    """Batch memory that is used again and again."""

    def __init__(self, most_idle: int) -> None: ...

    def take(self, bytes: int) -> BatchBuffer:
        """A buffer of at least `bytes` bytes, contents unspecified."""

    @property
    def idle(self) -> int:
        """Buffers waiting to be used again."""

    @property
    def made(self) -> int:
        """Buffers ever made."""

ALONE: int = -1

class Engine:
    """Threads that read files and fill batches."""

    def __init__(self, workers: int, readers: int, row_memory: int = 0) -> None: ...

    def close(self) -> None:
        """
        End the threads, after what is under way. Parts can only be let go of afterwards.
        """

    @property
    def workers(self) -> int: ...

    def fetch(self, rank: int, paths: Sequence[bytes]) -> EnginePart:
        """Start to read these files and their headers."""

    def begin(self, rank: int, count: int) -> EnginePart:
        """Samples without a file, for pixels that are set."""

    def open_mapped(self, rank: int, memory: object, addresses: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], storages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], widths: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> EnginePart:
        """
        Take samples that lie in `memory`, which stays alive as long; nothing is read yet.
        """

class EnginePart:
    """Samples that are read and run together."""

    def wait(self, timeout_s: float) -> bool:
        """Wait until nothing is under way; False if that takes longer."""

    def cancel(self) -> None:
        """Drop what has not begun; the results are then undefined."""

    @property
    def height(self) -> NDArray[numpy.int32]: ...

    @property
    def width(self) -> NDArray[numpy.int32]: ...

    @property
    def route(self) -> NDArray[numpy.int32]: ...

    @property
    def is_jpeg(self) -> NDArray[numpy.int32]: ...

    @property
    def unreadable(self) -> NDArray[numpy.int32]: ...

    @property
    def lacking(self) -> NDArray[numpy.int32]: ...

    @property
    def status(self) -> NDArray[numpy.int32]: ...

    @property
    def has_message(self) -> NDArray[numpy.int32]: ...

    @property
    def any_lacking(self) -> bool:
        """Whether `lacking` is set for a sample."""

    @property
    def any_not_ours(self) -> bool:
        """Whether a sample is unreadable, or has to be decoded by Pillow."""

    @property
    def any_remark(self) -> bool:
        """Whether the last run of a sample did not go well, or has a message."""

    def problem(self, sample: int) -> str: ...

    def reason(self, sample: int) -> str: ...

    def message(self, sample: int) -> str: ...

    def read_mapped(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tops: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start to read what these rows of the images depend on."""

    def set_pixels(self, sample: int, pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
        """Use these RGB pixels instead of the sample's file."""

    def set_versions(self, versions: Annotated[NDArray[numpy.uint64], dict(shape=(None, 4), order='C', device='cpu', writable=False)]) -> None:
        """
        Say which files the samples were read from: a row of `file_version` for each.
        """

    def run(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], programs: Programs, buffer: BatchBuffer, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], format: Format) -> None:
        """
        Start these samples' programs into a batch's memory, each at its byte offset.
        """

    def run_views(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], views: Sequence[tuple[Programs, BatchBuffer, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Format]], groups: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """
        Start several programs for each sample: what `run` takes for each of them, and, samples x views, which ones read one decoded region together; ALONE for none.
        """

    def run_to_arrays(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], programs: Programs, arrays: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu')]]) -> None:
        """Start these samples' programs into uint8 HxWx3 arrays."""

    def run_each(self, samples: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], programs: Programs, targets: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu')] | tuple[BatchBuffer, int, Format]]) -> None:
        """
        Start these samples' programs, each into an array as `run_to_arrays` takes it, or into (buffer, offset, format). Buffers and formats have to live until that is done.
        """

    def run_masks(self, sources: Sequence[Annotated[NDArray, dict(order='C', device='cpu', writable=False)]], numbers: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], programs: Programs, targets: Sequence[Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu')]], fill: int = 0) -> None:
        """
        Start to move the masks of every sample, of which `numbers` are wanted, into arrays.
        """

class Pixels:
    """Where the pixels of one image lie."""

    @staticmethod
    def of_pillow(array: CapsuleType, height: int, width: int, channels: int) -> Pixels:
        """Those of a Pillow image of mode L or RGB, by its Arrow array."""

    @staticmethod
    def at(address: int, height: int, width: int, channels: int, interleaved: bool, element: Element, owner: object, row_stride: int = 0, plane_stride: int = 0) -> Pixels:
        """
        Those of an array of gray or RGB pixels, which `owner` keeps alive. Strides are in bytes; 0 stands for rows and planes without gaps between them.
        """

def copy_one(target: Pixels, source: Pixels, top: int, left: int, flip_horizontal: bool, flip_vertical: bool, format: Format | None = None) -> None:
    """
    Copy the part of an image that begins at (top, left) and has the target's size.
    """

def resize_like_torch(target: Pixels, source: Pixels, filter: int, antialias: bool) -> None:
    """
    Resize an image of bytes to the target's size, with the weights that torch has for them.
    """

def effect_one(target: Pixels, source: Pixels, effect: Effect, numbers: Sequence[float]) -> None:
    """
    Apply one effect, with its numbers in the order of cpp/base/effects.def.
    """

def effect_anew(memory: object, effect: Effect, numbers: Sequence[float], height: int = 0, width: int = 0, channels: int = 0) -> object:
    """
    Apply one effect. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

def copy_anew(memory: object, top: int, left: int, height: int, width: int, flip_horizontal: bool, flip_vertical: bool) -> object:
    """
    Copy a part. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

def pad_anew(memory: object, borders: Sequence[int], mode: PadMode, fill: int) -> object:
    """
    Add borders: left, top, right, bottom. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

def resize_anew(memory: object, box: Sequence[int], size: tuple[int, int], filter: int, vertical_first: bool, part: Sequence[float] | None = None) -> object:
    """
    Resize a box: (top, left, height, width); of it only a part (left, top, right, bottom), if there is one. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

def to_array(memory: object) -> object:
    """
    Copy the pixels of `memory`, the `im` of a Pillow image or an array, to an array (height, width, channels); None for images that are neither gray nor RGB.
    """

def to_pillow(pixels: Pixels) -> object:
    """Copy pixels to the memory of a Pillow image."""

def array_to_pillow(array: object) -> object:
    """The same for an array; None for what is neither gray nor RGB."""

def gamma_anew(memory: object, gamma: float, gain: float) -> object:
    """
    Each level to the power of gamma, times gain. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

def table_anew(memory: object, levels: bytes) -> object:
    """
    Give each level of each channel its new one. `memory` is the `im` of a Pillow image, or an array; the result is of that kind, or None for images that are neither gray nor RGB.
    """

class RowMemory:
    """Remembers where rows of files begin, in at most so many bytes."""

    def __init__(self, bytes: int) -> None: ...

def file_version(descriptor: int) -> tuple[int, int, int, int]:
    """
    Which file it is, and which of its contents, to be asked before they are read: device, inode, bytes, time of change. All are 0 if that cannot be told.
    """

def run_here(targets: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu')] | tuple[BatchBuffer, int, Format]], sources: Sequence[bytes | Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]], programs: Programs, versions: Annotated[NDArray[numpy.uint64], dict(shape=(None, 4), order='C', device='cpu', writable=False)], row_memory: RowMemory) -> list[Status]:
    """
    Run programs in this thread, each on HxWx3 pixels, or on a JPEG file. Other files than `jpeg_header` says the core decodes are an error. `versions` has a row of `file_version` for each.
    """

class ValueMap(enum.Enum):
    """What is done to each float by itself."""

    SCALE = 0

    BLEND = 1

    SOLARIZE = 2

    POSTERIZE = 3

    NORMALIZE = 4

def map_floats(target: int, source: int, count: int, map: ValueMap, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> bool:
    """Change `count` floats, each by itself; True, as it can be done."""

def normalize_values(target: int, source: int, images: int, count: int, means: Sequence[float], stds: Sequence[float]) -> None:
    """Normalize the channels of each image, planes of `count` floats."""

def gray_values(target: int, written: Element, source: int, element: Element, pixels: int, interleaved: bool) -> None:
    """Write the gray of each pixel; that of bytes is whole."""

def saturate_values(target: int, source: int, element: Element, pixels: int, interleaved: bool, factor: float, rest: float) -> None:
    """Mix each pixel with its gray."""

def turn_hue_values(target: int, source: int, element: Element, pixels: int, interleaved: bool, turn: float) -> None:
    """Turn all colours by a part of the circle; planes are written."""

def sample_values(target: int, source: int, element: Element, channels: int, strides: Sequence[int], in_size: tuple[int, int], out_size: tuple[int, int], across: Sequence[float], down: Sequence[float], depth: Sequence[float] | None, fused: bool, bilinear: bool, fill: Sequence[float] | None) -> None:
    """
    Look an image up at the places that three numbers a side lead to; `depth` is for perspective. Strides are those of channels, rows and pixels, in elements.
    """

def convolve_values(target: int, source: int, planes: int, height: int, width: int, weights: int, kernel_height: int, kernel_width: int) -> None:
    """Sum up each plane of floats under a kernel, which stays within it."""

def resize_values(target: int, source: int, channels: int, strides: Sequence[int], in_size: tuple[int, int], out_size: tuple[int, int], filter: int) -> None:
    """
    Resize planes of floats with antialiasing. Strides are those of channels, rows and pixels, in elements.
    """

def stretch_values(target: int, source: int, planes: int, count: int) -> bool:
    """
    Stretch each plane of `count` floats to 0 and 1; False if one of them is not a number.
    """

def map_levels(target: int, source: int, count: int, map: ValueMap, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> bool:
    """
    Change `count` bytes, each by itself; False if torch may differ in some.
    """

def curve_levels(target: int, source: int, count: int, curve: int, gain: float) -> None:
    """Give each level the fraction of white that 256 floats say, times gain."""

def curve_floats(target: int, source: int, count: int, fractions: int, values: int) -> bool:
    """
    Replace floats that are among the fractions, two times 256, by their values; False if one of them is not.
    """

def look_up_values(target: int, levels: int, pixels: int, table: int, channels: int, bytes: int, interleaved: bool) -> None:
    """
    Write the values that a table of 256 levels for each channel has for the levels of an image.
    """

def stretch_levels(target: int, source: int, planes: int, count: int) -> None:
    """Stretch each plane of `count` bytes to 0 and 255."""

def contrast_levels(target: int, source: int, pixels: int, channels: int, interleaved: bool, ratio: float, rest: float) -> bool:
    """
    Mix an image with the mean of its gray; False if torch may differ in some byte.
    """

def pad_values(target: int, source: int, planes: int, size: tuple[int, int], bytes: int, borders: Sequence[int], mode: PadMode, fill: bytes) -> None:
    """
    Add borders (left, top, right, bottom) to planes of (height, width) values; `fill` has the bytes of one value.
    """

def permute_values(target: int, source: int, images: int, plane_bytes: int, order: Sequence[int]) -> None:
    """Put the planes of each image into another order."""

class MappedFile:
    """
    A file mapped for reading; what of it cannot be read any more is zero, and sets `lost`.
    """

    def __init__(self, descriptor: int, keep_open: bool = True, spare_bytes: int = 0, path: bytes = ...) -> None:
        """
        Map an open file; `spare_bytes` behind it can be read as well. Those with a path can be looked at by `file_states`.
        """

    def will_need(self, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Have the pages of these bytes read, without waiting for them; only a hint.
        """

    @property
    def descriptor(self) -> int:
        """-1 if it was not kept open."""

    @property
    def lost(self) -> bool: ...

    @property
    def bytes(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]:
        """The whole file; keeps it mapped."""

    @property
    def address(self) -> int:
        """Of its first byte."""

def file_states(files: list) -> bytes:
    """
    For each file: 0 if it is as it was when it was mapped, 1 if its path is gone or another file's, 2 if somebody wrote to it or cut it short.
    """

def keep_map_guard_on_top() -> None:
    """
    Make sure that no other library's handler of SIGBUS comes before ours. Cheap.
    """

class GuardedRange:
    """Memory that another library has mapped, guarded."""

    def __init__(self, address: int, bytes: int) -> None: ...

    @property
    def lost(self) -> bool: ...

def checksum(content: bytes | memoryview | NDArray[numpy.uint8], before: int = 0) -> int:
    """
    CRC-32 of bytes, as zlib.crc32, going on from that of the bytes before.
    """

def jpeg_header(data: bytes) -> dict:
    """What a JPEG says about itself, without decoding it."""

def encode_record(data: bytes) -> tuple[str, bytes, dict[str, int], str]:
    """
    A JPEG file's record: (storage, record, facts, reason). The storage is 'dct', or 'jpeg' if the file itself is the record; the reason says why, or why a 'dct' record gives back only the pixels and not the file. Facts: height, width, components, orientation, identical.
    """

def rebuild_file(record: bytes) -> bytes:
    """The JPEG file of a 'dct' record. ValueError if the record is damaged."""

def tile_parts(record: NDArray[numpy.uint8]) -> tuple[list[int], int, int]:
    """
    How a 'dct' record is cut into parts: (bytes of the head, of each row of tiles and of the rest; rows of pixels in a row of tiles; rows around a region that its pixels depend on). Of the record's contents, only the head must be there. ValueError if it is damaged.
    """

def check_tiles(record: bytes) -> tuple[int, int]:
    """
    Unpack every tile of a 'dct' record, as for pixels; return the image's height and width. ValueError if the record is damaged.
    """

class RecordCheck(enum.Enum):
    """How closely records are looked at."""

    BYTES = 0

    TILES = 1

    ORIGINAL = 2

def check_records(sound: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], check: RecordCheck, file: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], crc: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_dct: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], height: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], part_count: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], part_rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows_around: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], original_size: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], original_crc: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Fill `sound`: whether each of these records is what the columns say of it. `parts` has bytes and checksum of the parts of all of them. Runs without Python's lock.
    """

def give_back_memory() -> None:
    """
    Return to the system what the C library keeps for later, for each thread separately.
    """

def draw_words(seed: int, epoch: int, samples: Annotated[NDArray[numpy.int64], dict(shape=(None,), device='cpu', writable=False)], stream: int, first_slot: int, slots: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None, None), order='C')]:
    """
    The 64-bit words of these slots for every sample: (2 * slots, samples).
    """

def hear_libtiff(library: str) -> bool:
    """
    Let threads listen to the libtiff that a loaded library uses; False if there is none.
    """

def listen_to_libtiff() -> None:
    """Keep libtiff's messages of this thread from now on."""

def heard_from_libtiff() -> list[str]:
    """Stop listening; the messages of this thread since then."""
