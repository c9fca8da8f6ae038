"""Which image of one side is compared with which of the other.

Both sides come as streams. Matched by name, an image waits for its partner, in memory of its own
that has an end: beyond that only hashes wait, which say whether images differ, but not by how much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from penstock.certifying.images import Item

WAITING_BYTES = 1 << 29  # pixels that wait for their partners, of both sides together

Pair = tuple[Item | None, Item | None]


def match_by_position(a: Iterator[Item], b: Iterator[Item]) -> Iterator[Pair]:
    """Yield the first image of each side, the second of each, and so on."""
    while True:
        pair = next(a, None), next(b, None)
        if pair == (None, None):
            return
        yield pair


@dataclass(slots=True)
class NameMatcher:
    """Matches images by their names; the second image of a name with the second one there."""

    most_bytes: int = WAITING_BYTES
    let_go: int = 0  # images whose pixels found no room to wait in
    repeated: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    _waiting: tuple[dict[tuple[str, int], Item], dict[tuple[str, int], Item]] = field(
        default_factory=lambda: ({}, {})
    )
    _seen: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    _held_bytes: int = 0

    def match(self, a: Iterator[Item], b: Iterator[Item]) -> Iterator[Pair]:
        """Yield pairs as soon as both are there, then the images that have no partner."""
        going = [True, True]
        while any(going):
            for side, items in enumerate((a, b)):
                item = next(items, None) if going[side] else None
                if item is None:
                    going[side] = False
                elif (pair := self._meet(item, side)) is not None:
                    yield pair
        for item in self._waiting[0].values():
            yield item, None
        for item in self._waiting[1].values():
            yield None, item

    def _meet(self, item: Item, side: int) -> Pair | None:
        """Return the pair if the partner is there already; otherwise let the image wait."""
        name = item.called
        key = name, self._seen[side][name]
        self._seen[side][name] += 1
        if key[1]:
            self.repeated[side].add(name)
        partner = self._waiting[1 - side].pop(key, None)
        if partner is None:
            self._waiting[side][key] = self._kept(item)
            return None
        if partner.lent is not None:
            self._held_bytes -= partner.lent.stored.nbytes
        return (partner, item) if side else (item, partner)

    def _kept(self, item: Item) -> Item:
        if item.lent is None:
            return item
        size = item.lent.stored.nbytes
        if self._held_bytes + size > self.most_bytes:
            self.let_go += 1
            return replace(item, lent=None)
        self._held_bytes += size
        return replace(item, lent=item.lent.copied())
