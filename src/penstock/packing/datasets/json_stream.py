"""Find the elements of large JSON arrays without holding the file in memory.

COCO's instances take half a gigabyte as text and several as Python objects.
The file is walked once, a window at a time; what is kept is where each element lies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.errors import SourceError
from penstock.limits import how_to_allow, limits_in_force
from penstock.packing.datasets.files import MappedInput

WINDOW_BYTES = 1 << 20
_AHEAD_BYTES = 64  # most blanks between two values
_BLANKS = b" \t\r\n"
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class JsonStream:
    """A cursor on JSON text.

    Bytes are read as Latin-1, so that a character is a byte; `element` decodes properly.
    """

    data: bytes | MappedInput
    title: str
    position: int = 0
    value_span: tuple[int, int] = (0, 0)  # first byte and end of the value taken last
    _text: str = ""  # the window: bytes of `data` from `_text_start` on
    _text_start: int = 0

    def members(self) -> Iterator[str]:
        """Yield the keys of the object at the cursor; after each, the caller takes its value."""
        yield from self._walk(b"{", b"}", keyed=True)

    def elements(self) -> Iterator[tuple[int, int, Any]]:
        """Yield first byte, end and value of each element of the array at the cursor."""
        for _ in self._walk(b"[", b"]", keyed=False):
            value = self.value()
            start, end = self.value_span
            yield start, end, value

    def value(self) -> Any:
        """Take the value at the cursor. Text in it is Latin-1: use it only if it is ASCII."""
        self.peek()
        start = self.position
        window = WINDOW_BYTES
        most = limits_in_force().document_bytes
        while True:
            at_end = self._text_start + len(self._text) >= len(self.data)
            try:
                value, stop = _DECODER.raw_decode(self._text, start - self._text_start)
            except RecursionError as error:
                raise SourceError(f"{self.title}, byte {start:,}: {_too_deep()}") from error
            except ValueError as error:
                if at_end and self._text:
                    raise self._broken(start, f"not valid JSON ({error})") from error
            else:
                first = start - self._text_start
                brackets = self._text.count("[", first, stop) + self._text.count("{", first, stop)
                if brackets > limits_in_force().depth:
                    _check_depth(value, f"{self.title}, byte {start:,}")
                # A number that ends with the window may go on after it.
                if at_end or stop < len(self._text):
                    self.position = self._text_start + stop
                    self.value_span = start, self.position
                    return value
            if self._text_start == start and len(self._text) >= most:
                raise SourceError(
                    f"{self.title}, byte {start:,}: a value of more than {most:,} bytes. "
                    f"{how_to_allow('document_bytes')}."
                )
            self._text = self.data[start : start + min(window, most)].decode("latin-1")
            self._text_start = start
            window *= 4

    def peek(self) -> bytes:
        """Return the next byte that is not blank, without taking it; empty at the end."""
        offset = self.position - self._text_start
        found = _NOT_BLANK.search(self._text, offset) if offset >= 0 else None
        if found is not None:
            self.position = self._text_start + found.start()
            return found[0].encode("latin-1")
        while True:
            ahead = self.data[self.position : self.position + _AHEAD_BYTES]
            rest = ahead.lstrip(_BLANKS)
            self.position += len(ahead) - len(rest)
            if rest or not ahead:
                return rest[:1]

    def _walk(self, opening: bytes, closing: bytes, *, keyed: bool) -> Iterator[str]:
        self._take(opening)
        if self.peek() == closing:
            self.position += 1
            return
        while True:
            key = ""
            if keyed:
                if self.peek() != b'"':
                    raise self._broken(self.position, "expected a key in quotes")
                key = str(self.value())
                self._take(b":")
            yield key
            if self.peek() == closing:
                self.position += 1
                return
            self._take(b",")

    def _take(self, expected: bytes) -> None:
        got = self.peek()
        if got != expected:
            found = repr(got.decode("latin-1")) if got else "the end of the file"
            raise self._broken(self.position, f"expected {expected.decode()!r}, found {found}")
        self.position += 1

    def _broken(self, position: int, what: str) -> SourceError:
        return SourceError(
            f"{self.title}, byte {position:,}: {what}. "
            "The file may have been cut short; get it again."
        )


def load_json(text: str | bytes, where: str) -> Any:
    """Return the value of a JSON text; SourceError, beginning with `where`, if it is not valid."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise SourceError(f"{where}: {_too_deep()}") from error
    except ValueError as error:
        raise SourceError(f"{where}: not valid JSON ({error}).") from error
    _check_depth(value, where)
    return value


def shown(value: Any) -> str:
    """Return a value that was not expected, for an error: short, however large it is."""
    try:
        return repr(value)[:60]
    except ValueError:  # an integer of more digits than Python writes
        return f"a {type(value).__name__} too large to be written"


def _check_depth(value: Any, where: str) -> None:
    """Raise for values nested so deep that whoever looks at them might run out of stack."""
    level: list[Any] = [value] if isinstance(value, (list, dict)) else []
    for _ in range(limits_in_force().depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (list, dict))
        ]
        if not level:
            return
    raise SourceError(f"{where}: {_too_deep()}")


def _too_deep() -> str:
    return f"values are nested too deeply. {how_to_allow('depth')}."


def element(data: bytes | MappedInput, start: int, end: int, title: str) -> Any:
    """Decode one element that a stream found."""
    try:
        return json.loads(data[start:end].decode("utf-8"))
    except ValueError as error:
        raise SourceError(f"{title}, byte {start:,}: not valid UTF-8 JSON ({error}).") from error
