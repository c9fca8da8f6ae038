"""Reuse at run time: the images that are kept, and the order in which samples come back to them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from penstock._core import give_back_memory
from penstock.errors import LoaderError
from penstock.geometry import Ints, Size
from penstock.loading.batch import Part
from penstock.loading.options import BatchOptions
from penstock.loading.sampler import Order
from penstock.loading.selection import Chosen, EpochOrder, Picked, RankedSelection, Selection
from penstock.planner.cut import Cut, cut_plan
from penstock.planner.plan import Plan, Segment
from penstock.planner.reuse import ENTRY_BYTES, Echo, FirstPartUse, Uses
from penstock.rng import REPEAT_SHIFT

_WAIT_S = 0.25  # how often somebody who waits looks whether the loader was closed
_FIRST_TURN = 1 << 40  # of the orders drawn here; those of a plain epoch count from 0


@dataclass(frozen=True, slots=True)
class ReuseCounts:
    """What became of the samples of a loader that reuses, in this process, since it was made."""

    found: int  # their first part was kept from an earlier use
    computed: int  # it was not
    no_room: int  # of those computed: not kept, though they will be used again
    images: int  # kept now
    bytes: int  # that these take
    most_bytes: int  # that have been taken at any time


@dataclass(frozen=True, slots=True)
class Kept:
    """A sample after the first part of its transforms."""

    pixels: npt.NDArray[np.uint8]
    sizes: tuple[Size, ...]  # of the image before each segment of the first part


class _Entry:
    """Room for one image, made when the first part that needs it takes the sample."""

    __slots__ = ("drawn_in", "ended", "kept", "key", "last_epoch", "settled")

    def __init__(self, key: int, drawn_in: int, last_epoch: int) -> None:
        self.key = key
        self.drawn_in = drawn_in
        self.last_epoch = last_epoch
        self.kept: Kept | None = None
        self.settled = False  # whether whoever computes the image is done, or has given up
        self.ended = False  # whether its last use has been taken


@dataclass(frozen=True, slots=True)
class Taken:
    """One use of the samples of a part, by position in the part."""

    found: dict[int, Kept]
    computed: list[int]  # have to be computed here
    owned: list[_Entry]  # what others expect of that
    awaited: dict[int, _Entry]  # are being computed for an earlier use


class Store:
    """Keeps images until their last use, up to a number of bytes. Any thread may call it.

    An image that is to be used again is never given up for another: samples come back in cycles,
    so that whatever was used longest ago is what is needed next.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._changed = threading.Condition()
        self._entries: dict[int, _Entry] = {}
        self._epoch = 0
        self._bytes = self._most_bytes = 0
        self._found = self._computed = self._no_room = 0

    def take(self, epoch: int, uses: Uses) -> Taken:
        """Use these samples once. Those that have to be computed are then `put`."""
        taken = Taken({}, [], [], {})
        columns = (uses.keys, uses.drawn_in, uses.left, uses.last_epochs)
        with self._changed:
            if epoch != self._epoch:
                self._begin(epoch)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            for position, row in enumerate(rows):
                self._take(taken, position, *row)
            self._found += len(taken.found)
            self._computed += len(taken.computed)
        return taken

    def put(self, key: int, drawn_in: int, kept: Kept) -> None:
        """Keep an image that `take` lacked, if it is used again and there is room."""
        with self._changed:
            entry = self._entries.get(key)
            if entry is None or entry.drawn_in != drawn_in or entry.settled:
                return
            entry.kept, entry.settled = kept, True  # those who wait for it get it in any case
            size = _bytes_of(kept)
            if not entry.ended and self._bytes + size <= self._memory_bytes:
                self._bytes += size
                self._most_bytes = max(self._bytes, self._most_bytes)
            else:
                self._no_room += not entry.ended
                del self._entries[key]
            self._changed.notify_all()

    def release(self, taken: Taken) -> None:
        """Expect no more images of whoever has taken these."""
        with self._changed:
            for entry in taken.owned:
                if not entry.settled:
                    entry.settled = True
                    if self._entries.get(entry.key) is entry:
                        del self._entries[entry.key]
            self._changed.notify_all()

    def wait(self, taken: Taken, check: Callable[[], None]) -> Taken:
        """Wait for what others compute; call it when done with what they may wait for.

        `check` is called now and then, and may raise to end the waiting.
        """
        late = Taken({}, [], [], {})
        with self._changed:
            for position, entry in taken.awaited.items():
                while not entry.settled:
                    self._changed.wait(_WAIT_S)
                    check()
                if entry.kept is None:
                    late.computed.append(position)
                else:
                    late.found[position] = entry.kept
            self._found += len(late.found)
            self._computed += len(late.computed)
        return late

    def counts(self) -> ReuseCounts:
        """Return what happened so far."""
        with self._changed:
            images = sum(entry.kept is not None for entry in self._entries.values())
            return ReuseCounts(
                self._found, self._computed, self._no_room, images, self._bytes, self._most_bytes
            )

    def clear(self) -> None:
        """Let go of all images."""
        with self._changed:
            self._entries.clear()
            self._bytes = 0
        give_back_memory()  # else the C library keeps it for later

    def _begin(self, epoch: int) -> None:
        """Drop what was left behind by epochs that were not run to their end, or not run at all."""
        self._epoch = epoch
        for entry in list(self._entries.values()):
            if not entry.drawn_in <= epoch <= entry.last_epoch:
                self._drop(entry)

    def _take(
        self, taken: Taken, position: int, key: int, drawn_in: int, left: int, last_epoch: int
    ) -> None:
        entry = self._entries.get(key)
        if entry is not None and entry.drawn_in != drawn_in:
            self._drop(entry)
            entry = None
        if entry is None:
            taken.computed.append(position)
            if left > 1:
                entry = self._entries[key] = _Entry(key, drawn_in, last_epoch)
                taken.owned.append(entry)
            return
        entry.ended |= left == 1
        if entry.kept is None:
            taken.awaited[position] = entry
            return
        taken.found[position] = entry.kept
        if entry.ended:
            self._drop(entry)

    def _drop(self, entry: _Entry) -> None:
        del self._entries[entry.key]
        if entry.kept is not None:
            self._bytes -= _bytes_of(entry.kept)


def _bytes_of(kept: Kept) -> int:
    return kept.pixels.nbytes + ENTRY_BYTES


class Reusing:
    """What a runner needs to know: how first parts are drawn, and where they are kept."""

    def __init__(
        self, asked: FirstPartUse, plain: Plan, cut: Cut, seed: int, *, keeps: bool = True
    ) -> None:
        self.keeps = keeps  # else first parts are computed anew for each use, with the same draws
        self.asked = asked
        self.plain = plain  # the plan without the cut
        self.cut = cut
        self.store = Store(asked.memory_bytes)
        self._seed = seed

    def anew(self, *, keeps: bool = True) -> Reusing:
        """The same with nothing kept, for another loader."""
        return Reusing(self.asked, self.plain, self.cut, self._seed, keeps=keeps)

    def length(self, samples: int) -> int:
        """How many images an epoch over so many samples has."""
        return samples * self.asked.times if isinstance(self.asked, Echo) else samples

    def order(
        self, selection: Selection, plain: EpochOrder, epoch: int, batching: BatchOptions
    ) -> EpochOrder:
        """The order of an epoch in which each sample comes back to the rank that keeps it.

        `plain` is the order of the epoch without reuse.
        """
        lanes = _Lanes(self._seed, epoch, batching.world_size)
        if isinstance(self.asked, Echo):
            return _EchoedOrder(self.asked, plain, lanes, batching.shuffle)
        if lanes.count > 1 and isinstance(selection, Chosen) and selection.shuffle:
            return _StayingOrder(selection, lanes, epoch)
        return plain

    def uses(self, epoch: int, keys: Ints) -> Uses:
        """How the first parts of these samples are drawn in `epoch`."""
        return self.asked.uses(self._seed, epoch, keys, fixed=self.cut.fixed)

    def take(self, part: Part) -> Taken:
        """Use the samples of a part once."""
        return self.store.take(part.epoch, self.uses(part.epoch, part.keys))

    def keep(
        self,
        part: Part,
        pixels: dict[int, npt.NDArray[np.uint8]],
        sizes: Sequence[dict[int, Size]],
    ) -> None:
        """Keep images after the first part; `sizes` are those before each of its segments."""
        if part.attempt:
            return  # one that replaces a bad sample, whose key it has
        uses = self.uses(part.epoch, part.keys)
        for position, image in pixels.items():
            along = tuple(before[position] for before in sizes)
            key, drawn_in = int(uses.keys[position]), int(uses.drawn_in[position])
            self.store.put(key, drawn_in, Kept(image, along))


def open_reuse(
    asked: object, plan: Plan, selection: Selection, seed: int, *, mixes: bool
) -> Reusing | None:
    """Read a loader's `reuse`; raises where it does not fit the transforms or the samples."""
    if asked is None:
        return None
    if not isinstance(asked, FirstPartUse):
        raise LoaderError(
            f"Loader: reuse must be penstock.Reuse(...) or penstock.Echo(...), got {asked!r}."
        )
    if plan.views:
        raise LoaderError(
            f"Loader: reuse={type(asked).__name__}(...) does not work with MultiView, whose views "
            "share one decode already. Leave out one of the two."
        )
    _check_selection(asked, selection)
    return Reusing(asked, plan, cut_plan(plan, asked, mixes=mixes), seed)


def draw_keys(
    reusing: Reusing | None, segment: Segment, epoch: int, keys: Ints
) -> tuple[int | Ints, Ints]:
    """The epoch and the keys that a segment draws with for samples of these keys."""
    if reusing is None or not segment.kept:
        return epoch, keys
    uses = reusing.uses(epoch, keys)
    return uses.epochs, uses.keys


def check_ranks(before: int | None, now: int) -> None:
    """Raise if a state of so many ranks cannot go on with others within an epoch."""
    if before != now:
        raise LoaderError(
            f"Loader: the state was saved in the middle of an epoch with world_size={before}, and "
            f"there are {now} now. With reuse=, each rank has samples of its own, so another "
            "number of ranks can only go on from the start of an epoch: call set_epoch."
        )


def _check_selection(asked: FirstPartUse, selection: Selection) -> None:
    """Raise if samples would not come back in a way that reuse can count on."""
    most = 1 << (REPEAT_SHIFT - 1)  # of a sample's number, and of the count of its repeats
    if (len(selection) + 1) * asked.times >= most:
        raise LoaderError(f"Loader: reuse= is for up to {most // asked.times - 2:,} samples.")
    if isinstance(selection, RankedSelection):
        raise LoaderError(
            f"Loader: reuse={type(asked).__name__}(...) does not go with sampling=BucketBatches "
            "and RepeatedAugmentation, which have an order of their own. Leave one of the two out."
        )
    if isinstance(asked, Echo):
        return
    if not isinstance(selection, Chosen):
        raise LoaderError(
            "Loader: reuse=Reuse(...) does not go with weights= or sampling=, by which a sample "
            "may not come back for many epochs. Use Echo(...), or leave one of the two out."
        )
    if selection.count != selection.listed:
        raise LoaderError(
            f"Loader: reuse=Reuse(...) does not go with samples_per_epoch={selection.count:,}, "
            f"since the {selection.listed:,} samples do not all come once in every epoch. "
            "Use Echo(...), or leave one of the two out."
        )


class _Lanes:
    """Shuffles positions so that none changes its rank: among those of equal rest by ranks."""

    def __init__(self, seed: int, epoch: int, world_size: int) -> None:
        self._seed = seed
        self._epoch = epoch
        self.count = world_size

    def shuffle(self, positions: Ints, length: int, turn: int) -> Ints:
        """Return where these positions of a stretch of `length` go; `turn` keys the order."""
        places: Ints = positions.copy()
        for lane in np.unique(positions % self.count).tolist():
            here = positions % self.count == lane
            members = -(-(length - lane) // self.count)
            number = _FIRST_TURN + turn * self.count + lane
            order = Order(members, self._seed, self._epoch, True, number)
            places[here] = order.at(positions[here] // self.count) * self.count + lane
        return places


class _StayingOrder:
    """An epoch in which every rank shuffles the same samples as in all other epochs."""

    def __init__(self, chosen: Chosen, lanes: _Lanes, epoch: int) -> None:
        self._listed = replace(chosen, shuffle=False).epoch(epoch)
        self._lanes = lanes

    def __len__(self) -> int:
        return len(self._listed)

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        return self._listed.at(self._lanes.shuffle(positions, len(self), turn=0))


class _EchoedOrder:
    """An epoch whose windows come several times."""

    def __init__(self, echo: Echo, plain: EpochOrder, lanes: _Lanes, shuffle: bool) -> None:
        self._echo = echo
        self._plain = plain
        self._lanes = lanes
        self._shuffle = shuffle
        self._window = -(-echo.window // lanes.count) * lanes.count

    def __len__(self) -> int:
        return len(self._plain) * self._echo.times

    def at(self, positions: Ints) -> Picked:
        """Return what comes at these positions."""
        times, window = self._echo.times, self._window
        windows = positions // (window * times)
        starts = windows * window
        sizes = np.minimum(len(self._plain) - starts, window)  # the last one may be shorter
        echoes, offsets = np.divmod(positions - starts * times, sizes)
        if self._shuffle:
            for turn in np.unique(windows * times + echoes).tolist():
                here = windows * times + echoes == turn
                if turn % times:  # at first, a window has the epoch's own order
                    size = int(sizes[here][0])
                    offsets[here] = self._lanes.shuffle(offsets[here], size, turn)
        picked = self._plain.at(starts + offsets)
        return Picked(picked.samples, self._echo.echo_keys(picked.keys, echoes))
