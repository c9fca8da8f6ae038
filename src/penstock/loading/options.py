"""A loader's options, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from penstock._core import Element
from penstock.errors import LoaderError
from penstock.loading.to_torch import TorchMemory
from penstock.planner.rules import RULES
from penstock.reference.libraries import LIBRARIES
from penstock.transforms.values import FinalSpec, Layout, read_element

Library = Literal["torch", "numpy", "jax"]


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        raise LoaderError(f"Loader: {name} must be one of {listed}, got {value!r}.")


def _at_least(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise LoaderError(f"Loader: {name} must be a whole number from {least} on, got {value!r}.")


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Which samples make up a batch, and in which order."""

    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    rank: int
    world_size: int

    def __post_init__(self) -> None:
        _at_least("batch_size", self.batch_size, 1)
        _at_least("world_size", self.world_size, 1)
        _at_least("rank", self.rank, 0)
        if self.rank >= self.world_size:
            raise LoaderError(
                f"Loader: rank must be below world_size, got rank {self.rank} of {self.world_size}."
            )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How the work is done."""

    threads: int
    prefetch: int
    backend: str
    fidelity: str
    on_error: str
    pixel_limit: int
    plan: bool = True
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _at_least("threads", self.threads, 1)
        _at_least("prefetch", self.prefetch, 0)
        _at_least("pixel_limit", self.pixel_limit, 1)
        _one_of("backend", self.backend, ("native", *LIBRARIES))
        _one_of("on_error", self.on_error, ("raise", "skip", "substitute"))
        _one_of("fidelity", self.fidelity, ("exact", "fast"))
        if not isinstance(self.plan, bool):
            raise LoaderError(f"Loader: plan must be True or False, got {self.plan!r}.")
        for name in self.allow:
            _one_of("each of allow", name, tuple(rule.name for rule in RULES if rule.asks))
        if self.allow and not self.plan:
            raise LoaderError(
                f"Loader: plan=False applies no rules, but allow names {', '.join(self.allow)}. "
                "Leave out one of the two."
            )


def read_allow(allow: object) -> tuple[str, ...]:
    """Return the names of rules that the user allows."""
    if isinstance(allow, str):
        raise LoaderError(f"Loader: allow takes names in a tuple: allow=({allow!r},).")
    if not isinstance(allow, Iterable):
        raise LoaderError(f"Loader: allow takes the names of rules, got {allow!r}.")
    return tuple(dict.fromkeys(allow))


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What a batch looks like."""

    element: Element
    layout: Layout
    library: Library
    views: int = 0  # of each sample, in a list; 0: one image, in no list
    pins: bool = True  # whether memory is page-locked where there is a CUDA device
    lender: Callable[[], TorchMemory] | None = None  # makes who allocates memory, if not ourselves

    def __post_init__(self) -> None:
        _one_of("layout", self.layout, ("chw", "hwc"))
        _one_of("output", self.library, ("torch", "numpy", "jax"))
        if self.library == "numpy" and self.element == Element.BFLOAT16:
            raise LoaderError(
                "Loader: NumPy has no bfloat16. Use output='torch' or 'jax', or dtype='float16'."
            )


def element_of_batches(final: FinalSpec, dtype: Any) -> Element:
    """Return the element type of batches: the transforms' own unless `dtype` is another float."""
    if dtype is None:
        return final.element
    wanted = read_element("Loader", dtype)
    if wanted == final.element:
        return wanted
    name = wanted.name.lower()
    if final.element == Element.UINT8:
        raise LoaderError(
            f"Loader: dtype={name} but the transforms end in uint8 images; whether to scale them "
            f"to 0..1 is yours to say. Add ToDtype('{name}', scale=True) or Normalize(...)."
        )
    if wanted == Element.UINT8:
        raise LoaderError(
            f"Loader: dtype=uint8 but the transforms end in {final.element.name.lower()}. "
            "Leave out ToDtype and Normalize."
        )
    return wanted
