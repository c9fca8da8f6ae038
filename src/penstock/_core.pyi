"""
penstock's native core. Use the penstock package; nothing here is public.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


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

STEP_FIELDS: int = 21

class Format:
    """How batch slots are written."""

    def __init__(self, element: int, layout: str, scale: float, mean: Sequence[float], std: Sequence[float], divisor: float = 1.0, gain: Sequence[float] = [1.0, 1.0, 1.0]) -> None: ...

EFFECT_NUMBERS: int = 32

class Programs:
    """What is done to some samples."""

    def __init__(self, steps: Annotated[NDArray[numpy.int32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], step_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], effect_heads: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], effect_numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], effect_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Engine:
    """Threads that read files and fill batches."""

    def __init__(self, workers: int, readers: int) -> None: ...

    def close(self) -> None:
        """
        End the threads, after what is under way. Chunks can only be let go of afterwards.
        """

    @property
    def workers(self) -> int: ...

    def fetch(self, rank: int, paths: Sequence[bytes]) -> Chunk:
        """Start to read these files and their headers."""

    def begin(self, rank: int, count: int) -> Chunk:
        """Items without a file, for pixels that are set."""

    def open_records(self, rank: int, memory: object, addresses: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], storages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], widths: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Chunk:
        """
        Take records that lie in `memory`, which stays alive as long; nothing is read yet.
        """

class Chunk:
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
    def unreadable(self) -> NDArray[numpy.int32]: ...

    @property
    def lacking(self) -> NDArray[numpy.int32]: ...

    @property
    def status(self) -> NDArray[numpy.int32]: ...

    def problem(self, item: int) -> str: ...

    def reason(self, item: int) -> str: ...

    def message(self, item: int) -> str: ...

    def read_records(self, items: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tops: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], heights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start to read what these rows of the images depend on."""

    def set_pixels(self, item: int, pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None:
        """Use these RGB pixels instead of the item's file."""

    def run(self, items: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], programs: Programs, buffer: BatchBuffer, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], format: Format) -> None:
        """
        Start these items' programs into a batch's memory, each at its byte offset.
        """

    def run_to_arrays(self, items: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], programs: Programs, arrays: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu')]]) -> None:
        """Start these items' programs into uint8 HxWx3 arrays."""

    def run_masks(self, sources: Sequence[Annotated[NDArray, dict(order='C', device='cpu', writable=False)]], numbers: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], programs: Programs, targets: Sequence[Annotated[NDArray, dict(shape=(None, None, None), order='C', device='cpu')]], fill: int = 0) -> None:
        """
        Start to move the masks of every item, of which `numbers` are wanted, into arrays.
        """

class MappedFile:
    """
    A file mapped for reading; what of it cannot be read any more is zero, and sets `lost`.
    """

    def __init__(self, descriptor: int) -> None:
        """Map an open file."""

    @property
    def descriptor(self) -> int: ...

    @property
    def lost(self) -> bool: ...

    @property
    def bytes(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]:
        """The whole file; keeps it mapped."""

def keep_map_guard_on_top() -> None:
    """
    Make sure that no other library's handler of SIGBUS comes before ours. Cheap.
    """

class GuardedRange:
    """Memory that another library has mapped, guarded."""

    def __init__(self, address: int, bytes: int) -> None: ...

    @property
    def lost(self) -> bool: ...

def jpeg_header(data: bytes) -> dict:
    """What a JPEG says about itself, without decoding it."""

def encode_record(data: bytes) -> tuple[str, bytes, dict[str, int], str]:
    """
    A JPEG file's record: (storage, record, facts, reason). The storage is 'dct', or 'jpeg' if the file itself is the record; the reason says why, or why a 'dct' record gives back only the pixels and not the file. Facts: height, width, components, orientation, identical.
    """

def rebuild_file(record: bytes) -> bytes:
    """The JPEG file of a 'dct' record. ValueError if the record is damaged."""

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
