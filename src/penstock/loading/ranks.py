"""Which share of the data this process takes, and how many threads it may use.

It comes from the user, else from torch.distributed or jax.distributed, else from the variables RANK
and WORLD_SIZE, which torchrun and similar launchers set. If these disagree, the user must decide.

Scripts may create a loader before or after they set these up, so the rank is looked up again until
the first batch, and is fixed from then on.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from penstock.errors import LoaderError
from penstock.usable_cores import usable_cores

_BE_EXPLICIT = "give rank= and world_size=."


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process's number among those that share the data, and who said so."""

    rank: int
    world_size: int
    said_by: str

    @property
    def was_given(self) -> bool:
        """Whether the user gave the numbers."""
        return self.said_by == _GIVEN

    def describe(self) -> str:
        """Return the share and where it comes from."""
        return f"rank {self.rank} of {self.world_size} ({self.said_by})"


_GIVEN = "rank=, world_size="


def find_ranks(rank: int | None, world_size: int | None, *, now: bool = False) -> Ranks:
    """Return the user's numbers, or those of the environment if the user gave none.

    If only some variables are set, the others may still follow; with `now`, that is an error.
    """
    if (rank is None) != (world_size is None):
        got = f"rank={rank}" if world_size is None else f"world_size={world_size}"
        raise LoaderError(f"Loader: {got} alone. Give both rank and world_size, or neither.")
    if rank is not None and world_size is not None:
        return _checked(Ranks(rank, world_size, _GIVEN))
    found = _from_libraries()
    variables_say = _from_variables(now=now and not found)
    if variables_say is not None:
        found.append(variables_say)
    for other in found[1:]:
        first = found[0]
        if (first.rank, first.world_size) != (other.rank, other.world_size):
            who = "the variables RANK and WORLD_SIZE say" if other is variables_say else None
            raise LoaderError(
                f"Loader: {first.said_by} says rank {first.rank} of {first.world_size}, "
                f"{who or f'{other.said_by} says'} rank {other.rank} of {other.world_size}. "
                f"Correct them, or {_BE_EXPLICIT}"
            )
    return found[0] if found else Ranks(0, 1, "one process")


def _checked(given: Ranks) -> Ranks:
    """Raise if torch.distributed or jax.distributed has the same world size but another rank.

    Another world size is allowed: groups of processes may share the data.
    """
    for says in _from_libraries():
        if says.world_size == given.world_size and says.rank != given.rank:
            raise LoaderError(
                f"Loader: rank={given.rank} of {given.world_size}, but {says.said_by} says that "
                f"this process is rank {says.rank} of {says.world_size}. Leave out rank "
                "and world_size, or give those of this process."
            )
    return given


def _from_libraries() -> list[Ranks]:
    return [says for says in (_from_torch(), _from_jax()) if says is not None]


def find_threads(ranks: Ranks) -> int:
    """Return this process's share of the cores of its machine."""
    local = _variable("LOCAL_WORLD_SIZE")
    if local is None and not ranks.was_given and _on_one_machine():
        local = ranks.world_size
    return max(1, usable_cores() // max(1, local or 1))


def _on_one_machine() -> bool:
    """Whether the processes meet at an address that no other machine has."""
    return os.environ.get("MASTER_ADDR", "") in {"localhost", "127.0.0.1", "::1"}


def _from_torch() -> Ranks | None:
    """What torch.distributed says; a process that has not imported it has not set it up."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Ranks(
        int(distributed.get_rank()), int(distributed.get_world_size()), "torch.distributed"
    )


def _from_jax() -> Ranks | None:
    """What jax.distributed says; asked only once it is set up, since asking fixes the devices."""
    jax: Any = sys.modules.get("jax")
    distributed = getattr(jax, "distributed", None)  # not there while JAX is being imported
    if distributed is None or not distributed.is_initialized():
        return None
    return Ranks(int(jax.process_index()), int(jax.process_count()), "jax.distributed")


def _from_variables(*, now: bool) -> Ranks | None:
    rank, world_size = _variable("RANK"), _variable("WORLD_SIZE")
    if rank is None and (world_size in (None, 1) or not now):
        return None
    if rank is None or world_size is None or not 0 <= rank < world_size:
        found = f"RANK={os.environ.get('RANK')}, WORLD_SIZE={os.environ.get('WORLD_SIZE')}"
        raise LoaderError(
            f"Loader: the environment says {found}, and torch.distributed is not initialised. "
            f"Initialise it before the first batch. Or {_BE_EXPLICIT}"
        )
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
