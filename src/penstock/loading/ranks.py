"""Which share of the data this process takes, and how many threads it may use.

Asked in this order: the user, torch.distributed, and the variables RANK and WORLD_SIZE, which
torchrun and its relatives set. Where two of them disagree, the user must say.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from penstock.errors import LoaderError
from penstock.usable_cores import usable_cores

_BE_EXPLICIT = "Give rank= and world_size=."


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process's number among those that share the data, and who said so."""

    rank: int
    world_size: int
    said_by: str  # "rank=, world_size=", "torch.distributed", "RANK, WORLD_SIZE", "one process"

    @property
    def was_given(self) -> bool:
        """Whether the user gave the numbers."""
        return self.said_by == _GIVEN

    def describe(self) -> str:
        """Return the share and where it comes from."""
        return f"rank {self.rank} of {self.world_size} ({self.said_by})"

    def check_still_true(self) -> None:
        """Raise if the processes were told of each other after the loader was made."""
        if self.was_given:
            return
        now = _from_torch()
        if now is not None and (now.rank, now.world_size) != (self.rank, self.world_size):
            raise LoaderError(
                f"This loader was made as {self.describe()}, but torch.distributed now says rank "
                f"{now.rank} of {now.world_size}. Make the Loader after init_process_group, or "
                "give it rank= and world_size=."
            )


_GIVEN = "rank=, world_size="


def find_ranks(rank: int | None, world_size: int | None) -> Ranks:
    """Return the user's numbers; those of the environment where they gave none."""
    if (rank is None) != (world_size is None):
        got = f"rank={rank}" if world_size is None else f"world_size={world_size}"
        raise LoaderError(f"Loader: {got} alone. Give both rank and world_size, or neither.")
    if rank is not None and world_size is not None:
        return _checked(Ranks(rank, world_size, _GIVEN))
    torch_says, variables_say = _from_torch(), _from_variables()
    if torch_says is not None and variables_say is not None:
        pairs = {(found.rank, found.world_size) for found in (torch_says, variables_say)}
        if len(pairs) > 1:
            raise LoaderError(
                f"Loader: torch.distributed says rank {torch_says.rank} of "
                f"{torch_says.world_size}, the variables RANK and WORLD_SIZE say rank "
                f"{variables_say.rank} of {variables_say.world_size}. {_BE_EXPLICIT}"
            )
    return torch_says or variables_say or Ranks(0, 1, "one process")


def _checked(given: Ranks) -> Ranks:
    """Another number of processes may be meant (groups of them); another number of one is not."""
    torch_says = _from_torch()
    if (
        torch_says is not None
        and torch_says.world_size == given.world_size
        and torch_says.rank != given.rank
    ):
        raise LoaderError(
            f"Loader: rank={given.rank} of {given.world_size}, but torch.distributed says that "
            f"this process is rank {torch_says.rank} of {torch_says.world_size}. Leave out rank "
            "and world_size, or give those of this process."
        )
    return given


def find_threads(threads: int | None) -> int:
    """Return the user's number, or this process's share of the cores of its machine."""
    if threads is not None:
        return threads
    local = _variable("LOCAL_WORLD_SIZE")
    return max(1, usable_cores() // max(1, local or 1))


def _from_torch() -> Ranks | None:
    """What torch.distributed says. A process that has not imported it has not set it up."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Ranks(
        int(distributed.get_rank()), int(distributed.get_world_size()), "torch.distributed"
    )


def _from_variables() -> Ranks | None:
    rank, world_size = _variable("RANK"), _variable("WORLD_SIZE")
    if rank is None and world_size in (None, 1):
        return None
    if rank is None or world_size is None or not 0 <= rank < world_size:
        found = f"RANK={os.environ.get('RANK')}, WORLD_SIZE={os.environ.get('WORLD_SIZE')}"
        raise LoaderError(f"Loader: the environment says {found}. {_BE_EXPLICIT}")
    return Ranks(rank, world_size, "RANK, WORLD_SIZE")


def _variable(name: str) -> int | None:
    text = os.environ.get(name)
    if text is None or not text.strip():
        return None
    try:
        return int(text)
    except ValueError as error:
        raise LoaderError(
            f"Loader: the variable {name} is {text!r}, not a whole number. Correct it, or give "
            "rank=, world_size= and threads=."
        ) from error
