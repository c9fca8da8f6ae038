"""The bytes of a `.pen` file that are not records or columns; docs/format.md is the specification.

Header and tail have fixed places, the directory is an array of fixed-size entries.
Reading them back checks everything that can be checked without looking at a column.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from penstock._core import Storage
from penstock.errors import PackError
from penstock.packing.items import Column, ColumnKind

SUFFIX = ".pen"
VERSION = 2  # what is written
OLDEST_VERSION = 1  # that is read
ALIGNMENT = 64

MAGIC = b"\x89PEN\r\n\x1a\n"  # not text, and changed by every transfer that takes it for text
END_MAGIC = b"\nNEP"
FLAG_LOSSY = 1
KNOWN_FLAGS = FLAG_LOSSY

_HEADER = struct.Struct("<8sII16s28xI")
_TAIL = struct.Struct("<QIIQQHHI16sI4s")
_ENTRY = struct.Struct("<BBBB4xQQQQQII4I120s")
HEADER_BYTES = _HEADER.size
TAIL_BYTES = _TAIL.size
ENTRY_BYTES = _ENTRY.size
MOST_COLUMNS = 10_000
MOST_DIMENSIONS = 4
MOST_ROW_BYTES = 1 << 30  # of one value or row
NAME_BYTES = 120

# Roles of columns: the file's own; the user's, one value per sample; the user's, once for all;
# one value for each block of records, since version 2.
SYSTEM, SAMPLE, TABLE, BLOCK = range(4)
KINDS: tuple[ColumnKind, ...] = ("fixed", "ragged", "text", "bytes")
DTYPES = (
    "",  # text and bytes have none
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
)  # fmt: skip

# Pixels that are deflated are a flag of a raw record here, and a storage of their own in the core.
STORAGES = tuple(each.name.lower() for each in Storage if each != Storage.DEFLATED)
RESTORES = ("bytes", "pixels", "lossy")  # what `unpack` gives back of the original file
RECORD_ZLIB = 1  # record flag: the pixels of a raw record are a zlib stream

# The fixed system columns of one sample, in their order, and a last field that only the journal
# has: the checksum of the record's block up to here. SYSTEM_ROW packs such a row.
SYSTEM_ROW_TYPE = np.dtype(
    [
        ("offset", "<u8"),
        ("size", "<u8"),
        ("crc", "<u4"),
        ("storage", "u1"),
        ("flags", "u1"),
        ("restores", "u1"),
        ("orientation", "u1"),
        ("height", "<u4"),
        ("width", "<u4"),
        ("original_size", "<u8"),
        ("original_crc", "<u4"),
        ("part_rows", "<u2"),
        ("rows_around", "u1"),
        ("block_crc", "<u4"),
    ]
)
SYSTEM_ROW = struct.Struct("<QQIBBBBIIQIHBI")
FIXED_COLUMNS = tuple(
    Column(name, "fixed", SYSTEM_ROW_TYPE[name].name) for name in (SYSTEM_ROW_TYPE.names or ())[:-1]
)
VARIABLE_COLUMNS = (
    Column("name", "text"),
    Column("note", "text"),
    Column("parts", "ragged", "uint32", (2,)),  # of a record: bytes and checksum of each
)
SYSTEM_COLUMNS = (*FIXED_COLUMNS, *VARIABLE_COLUMNS)
_SINCE_2 = {"part_rows", "rows_around", "parts"}
BLOCK_COLUMNS = (
    Column("first", "fixed", "uint64"),
    Column("offset", "fixed", "uint64"),
    Column("size", "fixed", "uint64"),
    Column("crc", "fixed", "uint32"),
)
TABLE_NAMES = ("classes", "box_classes", "box_class_ids", "settings", "skipped")
MOST_USER_COLUMNS = MOST_COLUMNS - len(SYSTEM_COLUMNS) - len(TABLE_NAMES) - len(BLOCK_COLUMNS)


def system_columns(version: int) -> tuple[Column, ...]:
    """Return the columns of role 0 that a file of this version must have."""
    return tuple(column for column in SYSTEM_COLUMNS if version >= 2 or column.name not in _SINCE_2)


def check_version(version: int, where: str) -> None:
    """Raise PackError for a version that this penstock does not read."""
    if not OLDEST_VERSION <= version <= VERSION:
        raise PackError(
            f"{where}: format {version}; this version reads {OLDEST_VERSION}-{VERSION}. "
            "Upgrade penstock, or repack."
        )


def check_flags(flags: int, where: str) -> None:
    """Raise PackError for flags of the file that this penstock does not know."""
    if flags & ~KNOWN_FLAGS:
        raise PackError(f"{where}: flags {flags:#x} are unknown to this version. Upgrade penstock.")


@dataclass(frozen=True, slots=True)
class Header:
    """The first 64 bytes."""

    flags: int
    file_id: bytes
    version: int = VERSION

    def to_bytes(self) -> bytes:
        """Return the header as it stands in the file."""
        head = _HEADER.pack(MAGIC, self.version, self.flags, self.file_id, 0)[:-4]
        return head + zlib.crc32(head).to_bytes(4, "little")

    @classmethod
    def from_bytes(cls, raw: bytes, where: str) -> Header:
        """Read a header, or say what it is instead."""
        if len(raw) < HEADER_BYTES:
            raise PackError(
                f"{where}: {len(raw)} bytes, too short for a packed file. "
                "It was probably cut short while copying."
            )
        magic, version, flags, file_id, crc = _HEADER.unpack(raw)
        if magic != MAGIC:
            first = " ".join(f"{byte:02X}" for byte in raw[:8])
            raise PackError(f"{where}: not a packed file (first bytes {first}).")
        check_version(version, where)
        if crc != zlib.crc32(raw[:-4]) or raw[32:60].strip(b"\0"):
            raise PackError(f"{where}: the header is damaged. Copy the file again, or repack.")
        check_flags(flags, where)
        return cls(flags, file_id, version)


@dataclass(frozen=True, slots=True)
class Tail:
    """The last 64 bytes: where the directory is, and that the file is complete."""

    directory_offset: int
    directory_bytes: int
    samples: int
    records_end: int
    columns: int
    directory_crc: int
    file_id: bytes
    flags: int = 0  # as in the header; version 1 has them only there
    version: int = VERSION

    def to_bytes(self) -> bytes:
        """Return the tail as it stands in the file."""
        body = _TAIL.pack(
            self.directory_offset, self.directory_bytes, self.flags, self.samples,
            self.records_end, self.columns, 0 if self.version == 1 else self.version,
            self.directory_crc, self.file_id, 0, END_MAGIC,
        )[:56]  # fmt: skip
        return body + zlib.crc32(body).to_bytes(4, "little") + END_MAGIC

    @classmethod
    def from_bytes(cls, raw: bytes, file_bytes: int, where: str) -> Tail:
        """Read the tail of a file of `file_bytes`, or say why the file is not whole."""
        if len(raw) < TAIL_BYTES or raw[60:] != END_MAGIC:
            raise PackError(
                f"{where}: the end is missing ({file_bytes:,} bytes are there). "
                "It was probably cut short while copying; copy it again, or repack."
            )
        (
            directory_offset, directory_bytes, flags, samples, records_end, columns, version,
            directory_crc, file_id, crc, _,
        ) = _TAIL.unpack(raw)  # fmt: skip
        if crc != zlib.crc32(raw[:56]) or version == 1:  # where version 1 has a zero
            raise PackError(f"{where}: the footer is damaged. Copy the file again, or repack.")
        version = version or 1
        check_version(version, where)
        check_flags(flags, where)
        tail = cls(
            directory_offset, directory_bytes, samples, records_end, columns, directory_crc,
            file_id, flags, version,
        )  # fmt: skip
        fits = (
            tail.columns <= MOST_COLUMNS
            and not (version == 1 and flags)
            and tail.directory_bytes == tail.columns * ENTRY_BYTES
            and tail.directory_offset + aligned(tail.directory_bytes) + TAIL_BYTES == file_bytes
            and HEADER_BYTES <= tail.records_end <= tail.directory_offset
            and tail.records_end % ALIGNMENT == tail.directory_offset % ALIGNMENT == 0
        )
        if not fits:
            raise PackError(
                f"{where}: the footer says {tail.samples:,} samples up to byte "
                f"{tail.records_end:,} and {tail.columns:,} columns listed at byte "
                f"{tail.directory_offset:,}, which does not fit {file_bytes:,} bytes."
            )
        return tail


@dataclass(frozen=True, slots=True)
class Entry:
    """One column in the directory.

    A fixed column is one array at `offset`.
    The other kinds are `count` + 1 offsets there (uint64: of rows, or of bytes),
    and the values they point into at `values_offset`.
    """

    role: int
    column: Column
    count: int
    offset: int
    size: int
    values_offset: int
    values_bytes: int
    crc: int
    values_crc: int

    def to_bytes(self) -> bytes:
        """Return the entry as it stands in the directory."""
        column = self.column
        shape = (*column.shape, *[0] * (MOST_DIMENSIONS - len(column.shape)))
        return _ENTRY.pack(
            self.role, KINDS.index(column.kind), DTYPES.index(column.dtype), len(column.shape),
            self.count, self.offset, self.size, self.values_offset, self.values_bytes,
            self.crc, self.values_crc, *shape, column.name.encode(),
        )  # fmt: skip

    @classmethod
    def from_bytes(cls, raw: bytes, where: str, version: int = VERSION) -> Entry:
        """Read one entry; its places are checked by `check_places`."""
        role, kind, dtype, dimensions, *rest = _ENTRY.unpack(raw)
        *places, side0, side1, side2, side3, name = rest
        sides = (side0, side1, side2, side3)
        if role > (TABLE if version == 1 else BLOCK) or kind >= len(KINDS) or dtype >= len(DTYPES):
            raise PackError(
                f"{where}: role {role}, kind {kind} or type {dtype} is unknown to this version. "
                "Upgrade penstock, or repack."
            )
        if dimensions > MOST_DIMENSIONS or any(sides[dimensions:]) or raw[4:8] != bytes(4):
            raise PackError(f"{where}: damaged, {dimensions} dimensions of sides {sides}.")
        try:
            text = name.rstrip(b"\0").decode()
        except UnicodeDecodeError as error:
            raise PackError(f"{where}: its name is not UTF-8 ({error.reason}).") from error
        column = Column(text, KINDS[kind], DTYPES[dtype], tuple(sides[:dimensions]))
        check_column(column, where)
        return cls(role, column, *places)

    def check_places(self, start: int, end: int, where: str) -> int:
        """Check that the column lies at `start` and ends before `end`; return where it ends."""
        row = row_bytes(self.column)
        if self.column.kind == "fixed":
            whole = (
                self.size == self.count * row
                and not self.values_offset | self.values_bytes | self.values_crc
            )
            after = start + aligned(self.size)
        else:
            whole = (
                self.size == (self.count + 1) * 8
                and self.values_offset == start + aligned(self.size)
                and self.values_bytes % row == 0
            )
            after = self.values_offset + aligned(self.values_bytes)
        if not whole or self.offset != start or after > end:
            raise PackError(
                f"{where}: {self.count:,} values in {self.size:,} + {self.values_bytes:,} bytes "
                f"at byte {self.offset:,} do not fit between bytes {start:,} and {end:,}."
            )
        return after


def check_column(column: Column, where: str) -> None:
    """Raise PackError for a column that cannot be stored."""
    name_bytes = len(column.name.encode("utf-8", "surrogatepass"))
    if not column.name or name_bytes > NAME_BYTES or not column.name.isprintable():
        raise PackError(
            f"{where}: a column's name needs 1 to {NAME_BYTES} printable bytes, "
            f"got {column.name!r}."
        )
    if column.kind not in KINDS:
        raise PackError(f"{where}: kind {column.kind!r} is not one of {', '.join(KINDS)}.")
    if column.kind in {"text", "bytes"}:
        if column.dtype or column.shape:
            raise PackError(f"{where}: a {column.kind} column has no dtype and no shape.")
        return
    if column.dtype not in DTYPES[1:]:
        raise PackError(f"{where}: dtype {column.dtype!r} is not one of {', '.join(DTYPES[1:])}.")
    if len(column.shape) > MOST_DIMENSIONS or not all(1 <= side < 2**16 for side in column.shape):
        raise PackError(
            f"{where}: shape {column.shape} must have at most {MOST_DIMENSIONS} sides "
            "from 1 to 65,535."
        )
    if row_bytes(column) > MOST_ROW_BYTES:
        raise PackError(
            f"{where}: shape {column.shape} of {column.dtype} takes {row_bytes(column):,} bytes, "
            f"more than {MOST_ROW_BYTES:,}."
        )


def element_type(column: Column) -> np.dtype[np.generic]:
    """Return the little-endian NumPy type of a column's elements."""
    found: np.dtype[np.generic] = np.dtype(column.dtype or "uint8").newbyteorder("<")
    return found


def row_bytes(column: Column) -> int:
    """Return the bytes of one value (fixed), one row (ragged), or 1."""
    bytes_of_row: int = element_type(column).itemsize
    for side in column.shape:
        bytes_of_row *= side
    return bytes_of_row


def aligned(position: int) -> int:
    """Return the next multiple of the alignment."""
    return -(-position // ALIGNMENT) * ALIGNMENT


def padding(position: int) -> bytes:
    """Return the zeros from a position to the next multiple of the alignment."""
    return bytes(-position % ALIGNMENT)


def id_of(directory: bytes) -> bytes:
    """Return the file id: it follows from the checksums of all columns, so from all content."""
    return hashlib.sha256(directory).digest()[:16]
