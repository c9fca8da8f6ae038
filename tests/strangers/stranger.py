"""What is known of a stranger, and what its script takes from its command line."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tests.strangers.decoders import can_decode


@dataclass(frozen=True)
class Args:
    """What a stranger's script takes from its command line."""

    data: str  # a folder by data.make_data
    img_size: int = 24
    batch_size: int = 3
    workers: int = 0
    seed: int = 7
    persistent: bool = False  # whether workers live on after an epoch


@dataclass(frozen=True)
class Stranger:
    """A function of loaders/ that returns a DataLoader, and what is known of it."""

    name: str
    module: str
    stands_for: str
    pixels: tuple[str, ...]  # the libraries that touch them
    randomness: tuple[str, ...] = ()  # torch, random, numpy, own
    needs: tuple[str, ...] = ()  # libraries that not everybody has
    expect: str = "taken"  # or "refused"
    reason: str = ""  # a part of it, where not simply taken
    reproducible: bool = True  # whether two runs from a seed give the same batches

    def make(self, args: Args) -> Any:
        """Return its DataLoader."""
        module = importlib.import_module(f"tests.strangers.loaders.{self.module}")
        return getattr(module, self.name)(args)

    @property
    def missing(self) -> tuple[str, ...]:
        """What it needs and is not installed."""
        return tuple(library for library in self.needs if not _is_here(library))


def _is_here(library: str) -> bool:
    return can_decode() if library == "torchvision.io" else find_spec(library) is not None
