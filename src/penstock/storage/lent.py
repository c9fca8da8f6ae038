"""Records where they lie in memory: in a block that was read, a copy, or a file of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from penstock.storage.cache_maps import MappedBlock, check_lent

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]


@dataclass(slots=True)
class Lent:
    """Where each of some records lies, as long as this is held; spare bytes follow each."""

    addresses: Longs
    memory: list[Bytes] = field(default_factory=list)
    mapped: list[MappedBlock] = field(default_factory=list)

    @classmethod
    def of(cls, arrays: Sequence[Bytes]) -> Lent:
        """Return arrays that have spare bytes behind them."""
        return cls(np.array([address_of(array) for array in arrays], np.int64), list(arrays))

    def put(self, rows: npt.NDArray[np.bool_] | slice, others: Lent) -> None:
        """Have others in the place of these rows."""
        self.addresses[rows] = others.addresses
        self.memory += others.memory
        self.mapped += others.mapped

    def check(self) -> None:
        """Raise if somebody may have changed them since."""
        if self.mapped:
            check_lent(self.mapped)


def address_of(array: Bytes) -> int:
    """Return where an array's first byte lies."""
    address: int = array.__array_interface__["data"][0]
    return address
