"""What is measured: which operations and chains, on photos of which sizes, how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from penstock.experiments.libraries.toolkits import SIDES_PX
from penstock.geometry import Size

LOAD = "load"
OPS = ("flip", "rotate", "rotate (nearest)", "jitter", "crop", "resize to 300", "resize to 1000")
AS_STUDIED, CROP_FIRST = "flip first", "crop first"
_ORDERS = {
    AS_STUDIED: ("flip", "rotate", "jitter", "crop", "resize"),
    CROP_FIRST: ("crop", "resize", "flip", "rotate", "jitter"),
}
ORDERS = tuple(_ORDERS)


@dataclass(frozen=True, slots=True)
class Photos:
    """How many distinct photos of a size there are, and how many are taken at a time."""

    width_px: int
    height_px: int
    distinct: int
    turn: int  # how many a library takes in an iteration
    images: int  # of an epoch of our loader
    most_iterations: int = 1_000

    @property
    def size(self) -> Size:
        """The size of each."""
        return Size(self.height_px, self.width_px)

    @property
    def name(self) -> str:
        """Width and height, as the study has it."""
        return f"{self.width_px}x{self.height_px}"


SIZES = (
    Photos(640, 427, distinct=8, turn=8, images=32),
    Photos(2000, 1500, distinct=4, turn=2, images=8),
    Photos(3000, 5000, distinct=2, turn=1, images=2),
)


@dataclass(frozen=True, slots=True)
class Chain:
    """All five operations in one of the orders, to a square of `side_px`."""

    order: str
    side_px: int

    @property
    def name(self) -> str:
        """The order, and the side of the result."""
        return f"{self.order}, to {self.side_px}"

    @property
    def steps(self) -> tuple[str, ...]:
        """The operations by name."""
        resize = f"resize to {self.side_px}"
        return tuple(resize if step == "resize" else step for step in _ORDERS[self.order])


CHAINS = tuple(Chain(order, side) for order in ORDERS for side in SIDES_PX)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what is measured."""

    sizes: tuple[Photos, ...] = SIZES
    iterations: int = 10
    compared_px: int = 20_000_000  # pixels of larger photos are not compared with Pillow's
    cumulative: bool = True  # of our plans, too, each step of a chain
    photos: str | None = None  # a folder of real ones; None makes them
    pillow_simd: str | None = None  # an interpreter that has it
    voc: str | None = None  # a folder of torchvision's layout; None makes one
    voc_photos: int = 192  # of the made one
    batch_size: int = 32
    real_batch_size: int = 8  # where the CPU trains, slowly
    cores: tuple[int, ...] = (1, 2)
    rounds: int = 3  # of loading alone, for the detector
    steps_emulated: int = 40
    steps_real: int = 6
    accelerator: float | None = None  # images per second; None derives it from the study

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON has them."""
        found = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        # Where the interpreter is does not matter; its version is part of the environment.
        return found | {"pillow_simd": self.pillow_simd and "given"}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Settings:
        """Return what `to_dict` has made."""
        sizes = tuple(Photos(**photos) for photos in told["sizes"])
        return cls(**{**told, "sizes": sizes, "cores": tuple(told["cores"])})

    def rounds_of(self, photos: Photos) -> range:
        """Return the numbers of the iterations that photos of a size have."""
        return range(min(self.iterations, photos.most_iterations))


QUICK = Settings(
    sizes=(*SIZES[:-1], replace(SIZES[-1], most_iterations=1)),
    iterations=2,
    compared_px=1_000_000,
    cumulative=False,
    voc_photos=64,
    rounds=1,
    steps_emulated=10,
    steps_real=2,
)


def ops_key(photos: Photos, iteration: int) -> str:
    """Return where the times of single operations are kept."""
    return f"ops/{photos.name}/{iteration}"


def chain_key(photos: Photos, chain: Chain, iteration: int) -> str:
    """Return where the times of a chain are kept."""
    return f"chain/{photos.name}/{chain.name}/{iteration}"


def pixels_key(photos: Photos) -> str:
    """Return where differences to Pillow's pixels are kept."""
    return f"pixels/{photos.name}"
