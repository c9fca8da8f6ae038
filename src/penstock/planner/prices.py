"""What work costs on this machine: a price per unit, in nanoseconds of one core.

Shipped prices were measured on one machine, for each instruction set. `costs/calibrate.py`
measures this machine's in seconds; `remember` keeps them in the user's cache folder, in a file for
each CPU, instruction set and version of penstock, and `Prices.remembered` finds them there.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from penstock._core import active_isa
from penstock._version import __version__
from penstock.errors import OutputError
from penstock.geometry import Floats
from penstock.planner.amounts import Unit, Work, WorkPart
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.usable_cores import cpu_name
from penstock.user_cache import needed_cache_folder, user_cache_folder

SHIPPED_PRICES = Path(__file__).with_name("shipped_prices.json")
_OTHER_SETS = "scalar"  # the prices of an instruction set that none were shipped for
_FORMAT = 1
_MOST_BYTES = 1 << 20  # of a file of prices, which has a few thousand


@dataclass(frozen=True, slots=True)
class Machine:
    """What prices depend on."""

    cpu: str
    instructions: str
    penstock: str

    @classmethod
    def this(cls) -> Machine:
        """The one that we run on."""
        return cls(cpu_name(), active_isa(), __version__)


@dataclass(frozen=True, slots=True)
class Prices:
    """Nanoseconds of one core per unit of work."""

    nanoseconds: Floats  # by Unit
    origin: str  # where they come from, for people

    @classmethod
    def default(cls) -> Prices:
        """The shipped prices of the instruction set in use."""
        every = _shipped()
        chosen = active_isa() if active_isa() in every else _OTHER_SETS
        return cls(_by_unit(every[chosen]), "shipped prices")

    @classmethod
    def remembered(cls) -> Prices:
        """This machine's prices, if they were ever measured; else the shipped ones."""
        file = file_of(Machine.this())
        if file is None:
            return cls._shipped_because("there is no folder to remember others in")
        try:
            return cls(_read(file, Machine.this()), "prices measured on this machine")
        except FileNotFoundError:
            return cls._shipped_because("this machine's were not measured yet")
        except (OSError, ValueError) as error:
            return cls._shipped_because(printable(f"{file} is not used: {error}"))

    @classmethod
    def _shipped_because(cls, reason: str) -> Prices:
        return cls(cls.default().nanoseconds, f"shipped prices; {reason}")

    @property
    def are_measured(self) -> bool:
        """Whether they are this machine's own."""
        return not self.origin.startswith("shipped")

    def microseconds(self, work: Work) -> Floats:
        """What each sample costs: (samples,)."""
        total = np.zeros(work.samples)
        for part in work.parts:
            total[part.rows] += self.of_part(part)
        return total

    def of_part(self, part: WorkPart) -> Floats:
        """What one piece of work costs each sample that has it: microseconds, (rows,)."""
        total = np.zeros(len(part.rows))
        for unit, amount in part.amounts:
            total += self.nanoseconds[unit] * amount
        return total / 1_000


def file_of(machine: Machine) -> Path | None:
    """Where a machine's prices are remembered; None for a user without a cache folder."""
    folder = user_cache_folder()
    return None if folder is None else folder / "prices" / _name_of(machine)


def remember(prices: Prices) -> Path:
    """Keep this machine's prices for later; returns the file. OutputError if that cannot be."""
    machine = Machine.this()
    folder = needed_cache_folder() / "prices"
    by_name = {unit.name.lower(): float(prices.nanoseconds[unit]) for unit in Unit}
    content = {"format": _FORMAT, "machine": asdict(machine), "nanoseconds": by_name}
    temporary = None
    try:
        folder.mkdir(exist_ok=True)
        # Under a name of its own, then renamed: nobody ever reads half a file.
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".new")
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            json.dump(content, opened, indent=1)
        os.replace(temporary, folder / _name_of(machine))
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        raise OutputError(
            f"{folder}: prices cannot be kept there ({error.strerror}). "
            "Set PENSTOCK_CACHE to a folder that can be written."
        ) from error
    return folder / _name_of(machine)


def _name_of(machine: Machine) -> str:
    key = json.dumps(asdict(machine), sort_keys=True)
    return f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _read(file: Path, machine: Machine) -> Floats:
    """Raises OSError or ValueError, whose text says why the file cannot be used."""
    with open_regular(file) as opened:
        text = opened.read(_MOST_BYTES)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is damaged") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError("it has another format")
    if content.get("machine") != asdict(machine):
        raise ValueError("it is another machine's")
    return _by_unit(content.get("nanoseconds"))


def _by_unit(prices: Any) -> Floats:
    names = [unit.name.lower() for unit in Unit]
    if not isinstance(prices, Mapping) or set(prices) != set(names):
        raise ValueError("it has other units")
    numbers = [prices[name] for name in names]
    if not all(type(number) in (int, float) for number in numbers):
        raise ValueError("it has prices that are not numbers")
    found = np.array(numbers, dtype=np.float64)
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("it has prices below zero or without end")
    return found


@cache
def _shipped() -> dict[str, dict[str, float]]:
    shipped: dict[str, dict[str, float]] = json.loads(SHIPPED_PRICES.read_text(encoding="utf-8"))
    return shipped
