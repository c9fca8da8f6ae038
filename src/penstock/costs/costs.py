"""The records that say what an image costs on its way into a batch, part by part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from penstock.results.records import OpCost, StoreReading

Kind = Literal["read", "decode", "own", "augment", "collate"]

# Without these, a pipeline gives no batch, or a different one. Endings of class names.
_NEEDED = (
    *("Crop", "Resize", "Pad", "PadIfNeeded", "LongestMaxSize", "SmallestMaxSize"),
    *("ToTensor", "ToTensorV2", "ToPureTensor", "ToImage", "ToPILImage", "ToRGB"),
    *("Normalize", "ToDtype", "ConvertImageDtype", "ToFloat"),
)
_OF_USERS = ("Lambda",)  # the function inside may be anything


@dataclass(frozen=True, slots=True)
class Cost:
    """What one part costs per image: seconds of computing and of sleep; for "read", of sleep only.

    Time in which a thread is ready but without a core counts for nothing.
    """

    kind: Kind
    name: str
    seconds: float
    runs_in: str
    note: str = ""

    @property
    def can_be_left_out(self) -> bool:
        """Whether it is an augmentation: batches look the same to a model without it."""
        name = self.name.partition(" ")[0]
        is_known = self.runs_in != "Python" and name not in _OF_USERS
        return self.kind == "augment" and is_known and not name.endswith(_NEEDED)

    @property
    def is_of_users(self) -> bool:
        """Whether it is a function of the user's own, whose purpose we cannot know."""
        name = self.name.partition(" ")[0]
        return self.kind == "augment" and (self.runs_in == "Python" or name in _OF_USERS)


@dataclass(frozen=True, slots=True)
class Costs:
    """All parts, in the order in which they happen.

    `lock_share` is how far Python functions keep the loader's threads from running side by side:
    0 is not at all, 1 is completely.
    """

    parts: tuple[Cost, ...]
    lock_share: float = 0.0
    store: StoreReading | None = None  # what was asked of the store that the data is in

    def of(self, *kinds: Kind) -> float:
        """Seconds per image in parts of these kinds."""
        return sum(part.seconds for part in self.parts if part.kind in kinds)

    @property
    def cpu_s(self) -> float:
        """Seconds of computing per image."""
        return self.of("decode", "own", "augment", "collate")

    @property
    def total_s(self) -> float:
        """Seconds per image, one thing after the other."""
        return self.cpu_s + self.of("read")

    @property
    def python_s(self) -> float:
        """Seconds per image in the user's own Python functions."""
        return sum(part.seconds for part in self.parts if part.runs_in == "Python")

    @property
    def longest(self) -> Cost:
        """The part that costs most: the longest bar of a report."""
        return max(self.parts, key=lambda part: part.seconds)

    def without(self, name: str) -> Costs:
        """Return what is left if a part is taken out."""
        return replace(self, parts=tuple(part for part in self.parts if part.name != name))

    def as_op_costs(self) -> tuple[OpCost, ...]:
        """Return the parts as reports show them, with their shares of all."""
        total_s = sum(part.seconds for part in self.parts) or 1.0
        return tuple(
            OpCost(part.name, part.seconds * 1e6, part.seconds / total_s, part.runs_in, part.note)
            for part in self.parts
        )
