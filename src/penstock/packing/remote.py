"""Packed files in a store: the index is read once and checked, records when they are asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from penstock._core import checksum
from penstock.errors import PackError, StorageError
from penstock.geometry import Ints
from penstock.limits import how_to_allow, limits_in_force
from penstock.packing.columns import Bytes, ColumnReader, FixedColumn
from penstock.packing.format import HEADER_BYTES, SUFFIX, Entry, Header
from penstock.packing.pack_index import SUFFIX_BYTES, PackIndex
from penstock.packing.ranges import block_ranges, blocks_of, check_heads, part_ranges
from penstock.packing.read import PackFile
from penstock.packing.remote_index import ColumnsOnDemand, RemoteIndex
from penstock.packing.shards import MANIFEST, UNFINISHED, PackSet, check_manifest, listed_files
from penstock.storage.address import Address, read_address
from penstock.storage.backend import AbsentError
from penstock.storage.blocks import BlockMemory, Blocks, Pieces, wrong_checksum
from penstock.storage.cache import BlockCache
from penstock.storage.counts import Counter
from penstock.storage.lent import Lent
from penstock.storage.options import StorageOptions
from penstock.storage.remote_object import RemoteObject

Check = Callable[[], None]

OPENED_AT_ONCE = 64  # files of a data set, by threads: as many as there are requests at a time
_STRETCH_BYTES = 32 << 20
_STRETCHES_HELD = 3
USUAL_MEMORY = 64 << 20  # bytes of records that are kept for whoever asks again


@dataclass(frozen=True, slots=True)
class Access:
    """How a data set in a store is read, and what was counted meanwhile."""

    options: StorageOptions = field(default_factory=StorageOptions)
    cache: BlockCache | None = None
    counter: Counter = field(default_factory=Counter)
    from_front_to_back: bool = False  # whether all records are read, as by verify and unpack
    records: BlockMemory = field(default_factory=lambda: BlockMemory(USUAL_MEMORY))
    blocks: BlockMemory = field(default_factory=lambda: BlockMemory(USUAL_MEMORY))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of images that are needed, and memory with the size of each record to read them into."""

    top: Ints
    bottom: Ints
    scale: int
    into: list[Bytes]

    def pick(self, rows: Ints) -> Rows:
        """Return those of some of the images."""
        into = [self.into[row] for row in rows.tolist()]
        return Rows(self.top[rows], self.bottom[rows], self.scale, into)


class Stretches:
    """Reads an object in large pieces, for whoever reads all of it from front to back."""

    def __init__(self, remote: RemoteObject) -> None:
        self._remote = remote
        self._lock = threading.Lock()
        self._held: OrderedDict[int, Bytes] = OrderedDict()

    def read(self, start: int, end: int) -> Bytes:
        """Return bytes as they are."""
        numbers = range(start // _STRETCH_BYTES, -(-end // _STRETCH_BYTES))
        with self._lock:
            pieces = [self._piece(number) for number in numbers]
        whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        first = numbers[0] * _STRETCH_BYTES
        return whole[start - first : end - first]

    def _piece(self, number: int) -> Bytes:
        if number not in self._held:
            begin = number * _STRETCH_BYTES
            end = min(begin + _STRETCH_BYTES, self._remote.size)
            edges = [*range(begin, end, _STRETCH_BYTES // 4), end]
            read = self._remote.read(list(pairwise(edges)), gap_bytes=-1)
            self._held[number] = np.concatenate([np.frombuffer(one, np.uint8) for one in read])
            while len(self._held) > _STRETCHES_HELD:
                self._held.popitem(last=False)
        return self._held[number]


class RemotePackFile(PackFile):
    """One packed file in a store.

    Nobody can change it under our hands: every request is for the object that was opened.
    """

    def __init__(self, address: Address, access: Access) -> None:
        self.remote = RemoteObject(address, access.options, access.counter)
        self.path = str(address)
        self._index = RemoteIndex(
            self.remote, access.cache, self.path, whole=access.from_front_to_back
        )
        PackIndex.__init__(self, self._index.end, self.remote.size, self.path, complete=False)
        self._index.load(self._index.first_needed(self.entries))
        if self.version == 1:
            header = Header.from_bytes(bytes(self.remote.read([(0, HEADER_BYTES)])[0]), self.path)
            self._check_header(header)
            self.flags = header.flags  # version 1 has them only there
        offsets, sizes, crcs = (self.facts(name) for name in ("offset", "size", "crc"))
        self._records = Blocks(
            self.remote, (offsets, sizes, crcs), self._called, access.cache, access.records
        )
        self._stretches = Stretches(self.remote) if access.from_front_to_back else None
        self._blocks: Blocks | None = None
        if self.version > 1:
            columns = [self.blocks[name] for name in ("offset", "size", "crc")]
            offsets, sizes, crcs = (c.values for c in columns if isinstance(c, FixedColumn))
            self._blocks = Blocks(
                self.remote, (offsets, sizes, crcs), _block_called, access.cache, access.blocks
            )

    def _open_columns(self, entries: Mapping[str, Entry]) -> Mapping[str, ColumnReader]:
        return ColumnsOnDemand(entries, self._index)

    def prepare_rows(self) -> None:
        """Read what `load_rows` needs of the index."""
        self._index.load(self._index.needed_for_rows(self.entries))

    @property
    def mapped(self) -> Bytes | None:
        """None: nothing is mapped."""
        return None

    def announce(self, samples: Ints) -> None:
        """Nothing to do: the index is in memory."""

    def stored(self, offset: int, size: int) -> Bytes:
        """Return bytes of the file as they are; those of records are asked for."""
        if offset >= self._start or not size:
            return super().stored(offset, size)
        if offset >= self.tail.records_end:
            return self._index.stored(offset, size)
        place = int(np.searchsorted(self.facts("offset"), offset, side="right")) - 1
        record, record_bytes = (int(self.facts(name)[place]) for name in ("offset", "size"))
        if place >= 0 and record <= offset and offset + size <= record + record_bytes:
            whole = self._at_hand(place)
            if whole is not None:
                return whole[offset - record :][:size]
        end = min(offset + size, self.file_bytes)
        if self._stretches is not None:
            return self._stretches.read(offset, end)
        return np.frombuffer(self.remote.read([(offset, end)])[0], np.uint8)

    def _at_hand(self, place: int) -> Bytes | None:
        """Return a record that nobody needs to be asked for, or None."""
        held = self._records.held(place)
        if held is not None or self._blocks is None:
            return held
        sample = np.array([place])
        number = blocks_of(self, sample)
        offset, size, crc = (int(self.facts(name)[place]) for name in ("offset", "size", "crc"))
        start = offset - int(block_ranges(self, number).offset[0])
        return self._blocks.piece(int(number[0]), start, size, crc)

    def load_records(self, places: Ints, check: Check | None = None) -> list[Bytes]:
        """Return records as they are, each asked for by itself, or with those beside it."""
        return self._records.load(places.tolist(), check)

    def load_from_blocks(self, places: Ints, check: Check | None, *, keeps: bool) -> Lent:
        """Return records out of whole blocks. With `keeps`, they refer to the blocks' memory."""
        assert self._blocks is not None  # noqa: S101  callers have looked at `has_blocks`
        offsets, sizes, crcs = (self.facts(name)[places] for name in ("offset", "size", "crc"))
        numbers = blocks_of(self, places)
        starts = offsets.astype(np.int64) - block_ranges(self, numbers).offset
        wanted = Pieces(*(column.tolist() for column in (numbers, starts, sizes, crcs)))
        return self._blocks.lend(wanted, check, keeps=keeps)

    def load_rows(self, places: Ints, wanted: Rows, check: Check) -> None:
        """Read what the rows of these images depend on into the places of their records."""
        ranges = part_ranges(self, places, wanted.top, wanted.bottom, wanted.scale)
        ends = ranges.offset + ranges.size
        asked = list(zip(ranges.offset.tolist(), ends.tolist(), strict=True))
        future = self.remote.submit(asked, self.remote.worthwhile_gap())
        read = self.remote.wait(future, check)
        wrong = [
            row for row, content in enumerate(read) if checksum(content) != int(ranges.crc[row])
        ]
        if wrong:
            self.remote.counter.add(retries=len(wrong))
            again = self.remote.read([asked[row] for row in wrong], check)
            for row, content in zip(wrong, again, strict=True):
                if checksum(content) != int(ranges.crc[row]):
                    place = int(places[int(ranges.position[row])])
                    raise wrong_checksum(self.remote, self._called(place), *asked[row])
                read[row] = content
        offsets = self.facts("offset")[places].astype(np.int64)
        for position, offset, size, content in zip(
            ranges.position.tolist(), ranges.offset.tolist(), ranges.size.tolist(), read,
            strict=True,
        ):  # fmt: skip
            start = offset - int(offsets[position])
            wanted.into[position][start : start + size] = np.frombuffer(content, np.uint8)
        check_heads(self, places, wanted.into)

    @property
    def has_blocks(self) -> bool:
        """Whether records lie in blocks, which have checksums of their own."""
        return self._blocks is not None

    def check_unchanged(self, indices: Sequence[int] = ()) -> None:
        """Nothing to do: see the class."""

    def _called(self, place: int) -> str:
        return f"sample {place:,} ({self.name(place)})"


def _block_called(number: int) -> str:
    return f"block {number:,}"


def open_remote(text: str, access: Access | None = None) -> PackSet:
    """Open a packed file in a store, or a folder of shards there."""
    access = access or Access()
    address = read_address(text)
    if address.name.endswith(SUFFIX):
        return PackSet(str(address), [RemotePackFile(address, access)])
    folder = Address(address.text.rstrip("/"), address.scheme)
    manifest = folder.beside(MANIFEST)
    content = _read_manifest(manifest, access)
    names = listed_files(str(manifest), content)
    with ThreadPoolExecutor(OPENED_AT_ONCE, "penstock-open") as pool:
        files = list(pool.map(lambda name: RemotePackFile(folder.beside(name), access), names))
    check_manifest(str(manifest), content, files)
    return PackSet(str(folder), files)


def _read_manifest(manifest: Address, access: Access) -> str:
    most = limits_in_force().text_bytes
    remote = RemoteObject(manifest, access.options, access.counter)
    try:
        read = bytes(remote.open_end(min(most, SUFFIX_BYTES)))
    except StorageError as error:
        if isinstance(error, AbsentError) and _is_unfinished(manifest, access):
            raise StorageError(
                f"{manifest.container}: an unfinished pack, so it is not read. Go on with the pack "
                "by --resume (resume=True), or wait until all of its parts have ended."
            ) from error
        raise StorageError(
            f"{error} An address must name a .pen file, or a folder of shards with {MANIFEST}. "
            f"Images in a store are packed first: penstock pack {manifest.container} TARGET."
        ) from error
    if remote.size > most:
        raise PackError(
            f"{manifest}: {remote.size:,} bytes, more than {most:,}. {how_to_allow('text_bytes')}."
        )
    read = bytes(remote.read([(0, remote.size - len(read))])[0]) + read
    try:
        return read.decode()
    except UnicodeDecodeError as error:
        raise PackError(f"{manifest}: not a manifest of shards ({error}).") from error


def _is_unfinished(manifest: Address, access: Access) -> bool:
    claim = manifest.folder.beside(UNFINISHED)
    try:
        RemoteObject(claim, access.options, access.counter).open_end(0)
    except StorageError:
        return False
    return True
