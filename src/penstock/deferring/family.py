"""Arrays and tensors that would share memory: one, and views of it. They are computed together."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

View: TypeAlias = Callable[[Any], Any]


def as_it_is(values: Any) -> Any:
    """The view that is all of it."""
    return values


class Member:
    """What such arrays and tensors have in common."""

    __slots__ = ()

    _family: Family | None
    _view: View

    @property
    def is_alone(self) -> bool:
        """Whether it shares its memory with no other one."""
        return self._family is None or self._family.is_alone

    def leave_family(self) -> None:
        """Have other values from now on than the family had; only for one that is alone."""
        self._family, self._view = None, as_it_is  # type: ignore[misc]  # who has it has a place

    def join(self, given: Member, view: View) -> None:
        """Share the memory of an open one; `view` makes it of that one's values."""
        before = given._view
        self._view = view if before is as_it_is else lambda values: view(before(values))
        family = given._family or Family(given)
        family.add(self)


class Family:
    """One that was computed for itself, and its views."""

    def __init__(self, first: Any) -> None:
        self._make_first = first.recipe()
        self._members: list[weakref.ref[Any]] = []
        self.add(first)

    def add(self, member: Any) -> None:
        """Let somebody be one of them."""
        self._members.append(weakref.ref(member))
        member._family = self  # noqa: SLF001 (of this file)

    def _alive(self) -> Iterator[Any]:
        return (one for ref in self._members if (one := ref()) is not None)

    @property
    def is_alone(self) -> bool:
        """Whether nobody has another one of them any more."""
        return sum(1 for _ in self._alive()) == 1

    def settle(self) -> None:
        """Compute the first one, and be views of it."""
        first = self._make_first()
        values = first.settle(first.computed())
        for member in self._alive():
            member.settle(member._view(values))  # noqa: SLF001 (of this file)
