"""Where a DataLoader stands: enough to go on with exactly the batches that would have come.

The order of an epoch follows from how generators and sampler stood when it began, so this is what
is kept. To go on, they are put back there, and the batches that were delivered are listed again,
without being read. A sampler that has a `state_dict` is put where it was instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from penstock.errors import LoaderError

_VERSION = 1
_WITHIN = ("sampler", "batch_sampler")  # where samplers keep those that they are made of
_DEEPEST = 4


def samplers_of(loader: Any) -> Iterator[tuple[str, Any]]:
    """Yield the samplers of a loader and those within them, from the outside, with their names."""
    found: list[int] = []

    def walk(name: str, thing: Any, depth: int) -> Iterator[tuple[str, Any]]:
        for attribute in reversed(_WITHIN):
            inner = getattr(thing, attribute, None)
            if inner is None or id(inner) in found or depth >= _DEEPEST:
                continue
            found.append(id(inner))
            yield f"{name}.{attribute}", inner
            yield from walk(f"{name}.{attribute}", inner, depth + 1)

    return walk("loader", loader, 0)


def is_stateful(thing: Any) -> bool:
    """Whether it can say how it stands, and be put there again."""
    return all(callable(getattr(thing, name, None)) for name in ("state_dict", "load_state_dict"))


def stateful_sampler(loader: Any) -> Any:
    """Return the outermost sampler that can say how it stands, or None."""
    return next((sampler for _, sampler in samplers_of(loader) if is_stateful(sampler)), None)


@dataclass(frozen=True, slots=True)
class RandomState:
    """How the generators of a loader stand: torch's own, and those of the loader and samplers."""

    of_torch: torch.Tensor
    of_others: Mapping[str, torch.Tensor]  # by where they are
    epochs: Mapping[str, int]  # that samplers were given by `set_epoch`

    @staticmethod
    def of(loader: Any) -> RandomState:
        """Return how they stand now."""
        generators = {name: one.get_state() for name, one in _generators_of(loader).items()}
        epochs = {
            name: int(sampler.epoch)
            for name, sampler in samplers_of(loader)
            if callable(getattr(sampler, "set_epoch", None))
            and isinstance(getattr(sampler, "epoch", None), int)
        }
        return RandomState(torch.get_rng_state(), generators, epochs)

    def restore(self, loader: Any, *, is_own: bool) -> None:
        """Put them back there; LoaderError if the loader has others.

        Frameworks save the state of one rank, and load it on all. torch's own generator is left
        alone where the state is not that of this rank, or all would draw the same from then on.
        """
        generators, samplers = _generators_of(loader), dict(samplers_of(loader))
        if set(generators) != set(self.of_others):
            raise LoaderError(
                "DataLoader.load_state_dict: the state was saved with generators "
                f"{sorted(self.of_others) or 'of torch only'}, this loader has "
                f"{sorted(generators) or 'those of torch only'}. Give the same generator= and "
                "sampler=."
            )
        for name, state in self.of_others.items():
            generators[name].set_state(state)
        for name, epoch in self.epochs.items():
            if name in samplers:
                samplers[name].set_epoch(epoch)
        if is_own:
            torch.set_rng_state(self.of_torch)

    def as_dict(self) -> dict[str, Any]:
        """Return what can be saved."""
        return {
            "torch": self.of_torch,
            "generators": dict(self.of_others),
            "sampler_epochs": dict(self.epochs),
        }

    @staticmethod
    def from_dict(saved: Mapping[str, Any]) -> RandomState:
        """Return what was saved."""
        return RandomState(saved["torch"], saved["generators"], saved["sampler_epochs"])


def _generators_of(loader: Any) -> dict[str, torch.Generator]:
    things = [("loader", loader), *samplers_of(loader)]
    found = {name: getattr(thing, "generator", None) for name, thing in things}
    return {name: one for name, one in found.items() if isinstance(one, torch.Generator)}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an epoch, after so many batches.

    `start` is how generators stood when the epoch began, `now` how torch's own stood when the
    place was saved. `base_seed` and `restarts` key the draws, if the base seed is not drawn anew.
    """

    epoch: int
    batches: int
    start: RandomState
    now: torch.Tensor
    base_seed: int | None
    restarts: int
    sampler: Any = None  # its own state, if it has one
    seen: torch.Tensor | None = None  # how often each sample had come, for such a sampler
    told: int | None = None  # the epoch that a framework had told the samplers
    rank: int = 0  # of the process that saved it

    def as_dict(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state of a loader, which is `described` by what must stay the same."""
        return {
            "version": _VERSION,
            **described,
            "epoch": self.epoch,
            "batches": self.batches,
            "base_seed": self.base_seed,
            "restarts": self.restarts,
            "start": self.start.as_dict(),
            "now": self.now,
            "sampler_state": self.sampler,
            "seen": self.seen,
            "told": self.told,
            "rank": self.rank,
        }

    @staticmethod
    def from_dict(state: Mapping[str, Any], described: Mapping[str, Any]) -> Place:
        """Read a state; LoaderError if it is that of another loader."""
        if not isinstance(state, Mapping):
            raise LoaderError(
                f"DataLoader.load_state_dict: a dictionary is needed, got {type(state).__name__}. "
                "Give what penstock.torch.DataLoader.state_dict() returned."
            )
        if state.get("version") != _VERSION or "start" not in state:
            raise LoaderError(
                f"DataLoader.load_state_dict: state version {state.get('version')!r}; this version "
                f"reads {_VERSION}. Give what penstock.torch.DataLoader.state_dict() returned."
            )
        for key, mine in described.items():
            if key == "ranks" and not state["batches"]:
                continue  # between epochs, any number may go on
            if state.get(key) != mine:
                raise LoaderError(
                    f"DataLoader.load_state_dict: the state was saved with {key}="
                    f"{state.get(key)!r}, this loader has {key}={mine!r}; its batches would not go "
                    "on from there."
                )
        return Place(
            int(state["epoch"]),
            int(state["batches"]),
            RandomState.from_dict(state["start"]),
            state["now"],
            state["base_seed"],
            int(state["restarts"]),
            state["sampler_state"],
            state["seen"],
            state["told"],
            int(state["rank"]),
        )


def put_sampler_back(
    place: Place, sampler: Any, begin: Callable[[], Iterator[Any]]
) -> Iterator[Any]:
    """Return the iterator over indices, with its sampler, or itself, standing where it was."""
    listed = begin()
    if place.batches and is_stateful(listed):
        listed.load_state_dict(place.sampler)  # type: ignore[attr-defined]  # as was just found
        return listed
    sampler.load_state_dict(place.sampler)
    return begin() if place.batches else _next_epoch(begin)


def _next_epoch(begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """List an epoch with a sampler that stands between two.

    Some samplers have the end of the old one before them, and list nothing; others the new one.
    """
    any_left = False
    for index in begin():
        any_left = True
        yield index
    if not any_left:
        yield from begin()
