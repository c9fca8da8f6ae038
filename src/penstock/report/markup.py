"""HTML that is safe by construction: whatever is not Html already is escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

VOID_TAGS = frozenset({"br", "col", "hr", "img", "input", "meta"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Return text as markup that shows it."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def join(parts: Iterable[str]) -> Html:
    """Return the parts one after another."""
    return Html("".join(escape(part) for part in parts))


def element(tag: str, *children: str, **attributes: str) -> Html:
    """Return `<tag name="value">children</tag>`.

    Python has no attributes called `class` and `aria-label`: say `class_` and `aria_label`.
    """
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    inside = "".join(f' {names[name]}="{html.escape(value)}"' for name, value in attributes.items())
    if tag in VOID_TAGS:
        return Html(f"<{tag}{inside}>")
    return Html(f"<{tag}{inside}>{join(children)}</{tag}>")


def draw_legend(entries: Iterable[tuple[str, str]]) -> Html:
    """Return names beside their colours, in as many lines as they need."""
    spans = [
        element("span", element("i", style=f"background:{colour}"), name)
        for name, colour in entries
    ]
    return element("p", *spans, class_="legend") if spans else Html()


def json_block(identity: str, values: Any) -> Html:
    """Return values as JSON that scripts of the page can read and that cannot end the block."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return element("script", Html(safe), type="application/json", id=identity)
