r"""Text from files, made safe to print. Imports nothing of ours.

Names, classes and values of a data set were written by somebody else. Printed as they are, they
could move the cursor, change the terminal's title, forge a line of our output or turn the reading
direction. Every such text goes through `printable`, or leaves through something that does:
the command line's `say`, its progress bars and consoles, and every PenstockError.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment


# Names are hardly ever longer; of a longer text, the beginning and the end identify it.
MOST_CHARACTERS = 1_000
MOST_PER_LINE = 8_000
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str | bytes | os.PathLike[str], most: int = MOST_CHARACTERS) -> str:
    r"""Return text, or a path, as one line that any terminal shows as it is meant.

    Control characters, line feeds, what is invisible or turns the reading direction, and bytes
    that are not UTF-8 are spelled out, such as `\x1b`, `\n`, `\u202e` and `\udcff`; text of more
    than `most` characters loses its middle.
    """
    given = os.fsdecode(text)
    if len(given) > most:
        left_out = len(given) - most
        ends = most // 4
        given = f"{given[: most - ends]} ...({left_out:,} characters)... {given[-ends:]}"
    if given.isprintable():
        return given
    return "".join(
        character if _is_shown(character) else _spelled(character) for character in given
    )


def printable_lines(text: str) -> str:
    """Return text of our own, which may quote others', with its line feeds as they are."""
    if text.isprintable() and len(text) <= MOST_PER_LINE:
        return text
    return "\n".join(printable(line, MOST_PER_LINE) for line in text.split("\n"))


def in_encoding(text: str, encoding: str | None) -> str:
    """Return text with what this encoding lacks spelled out, so that printing it cannot fail."""
    known = encoding or "utf-8"
    return text.encode(known, "backslashreplace").decode(known)


def safe_console(**options: Any) -> Console:
    """Return rich's console, made so that only its own codes control the terminal."""
    # Late, so that work which never draws does not pay for the import.
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        """Spells out what must not reach a terminal, whatever it is a part of."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    text = in_encoding(printable_lines(segment.text), self.encoding)
                    yield Segment(text, segment.style)

    return SafeConsole(**options)


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return _ESCAPES.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
