"""What the demo found, as a story for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.demo.loaders import CROP_PX, Work
from penstock.demo.passes import Row
from penstock.report import wording
from penstock.report.summary import headline, speed_up
from penstock.report.time_series import thin_for_saving
from penstock.usable_cores import CAN_PIN

if TYPE_CHECKING:
    from penstock.results.records import Analysis

# An accelerator so many times as fast as the plain pipeline starves on it, for certain, while a
# packed file, which delivers many times more still, keeps it busy.
STARVING = 4


@dataclass(frozen=True, slots=True)
class Packing:
    """What packing the photos came to."""

    images: int
    original_bytes: int
    packed_bytes: int
    seconds: float


@dataclass(slots=True)
class Result:
    """The demo's result."""

    work: Work
    plain: str  # the plain loader's name in `rows`
    plain_rate: float  # alone, by which the accelerator was chosen
    before: Analysis
    packing: Packing
    after: Analysis
    passes: int
    rows: list[Row]
    identical: int
    compared: int
    report: str | None = None  # where it was written
    notes: list[str] = field(default_factory=list)

    @property
    def all_identical(self) -> bool:
        """False if an image differed."""
        return self.identical == self.compared

    @property
    def speed_up(self) -> float | None:
        """How many times as fast training is after packing, with the accelerator chosen here."""
        return speed_up(self.before, self.after)

    @property
    def construction(self) -> str:
        """How the accelerator was chosen, and what that makes of the gain in training."""
        rate = wording.rate(headline(self.before).synthetic or 0.0)
        said = (
            f"The accelerator is made up: {rate}, {STARVING} times what the plain pipeline "
            f"delivers ({wording.rate(self.plain_rate)}), so {STARVING} times is the most that "
            "training could gain here"
        )
        if self.speed_up is None:
            return f"{said}."
        before, after = (wording.rate(end_to_end_rate(one)) for one in (self.before, self.after))
        return f"{said}. It got {before} before and {after} after: {wording.factor(self.speed_up)}."

    def to_json(self) -> str:
        """Return everything as JSON."""
        figures: dict[str, Any] = {
            "folder": self.work.folder,
            "crop_px": CROP_PX,
            "batch_size": self.work.batch_size,
            "device": self.before.device,
            "plain_images_per_s": self.plain_rate,
            "packing": asdict(self.packing),
            "speed_up": self.speed_up,
            "construction": self.construction,
            "images_compared": self.compared,
            "images_identical": self.identical,
            "passes": self.passes,
            "pinned": CAN_PIN,
            "rows": [row.to_dict() for row in self.rows],
            "report": self.report,
            "notes": self.notes,
            "before": thin_for_saving(self.before).to_dict(),
            "after": thin_for_saving(self.after).to_dict(),
        }
        return json.dumps(figures, indent=2)


def end_to_end_rate(analysis: Analysis) -> float:
    """Return the images a second that training got; the demo always measures them."""
    rate = headline(analysis).end_to_end
    return 0.0 if rate is None else rate.rate.median
