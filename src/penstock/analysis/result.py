"""What `penstock.analyze` returns: the record of everything that was found, with ways to show it.

The record itself is in `results`, below the reports that are made of it; here it is put together
with them.
"""

from __future__ import annotations

import json
from dataclasses import fields
from os import PathLike, fspath
from typing import overload

from penstock.errors import AnalysisError
from penstock.report import print_terminal
from penstock.report.html import draw_page, write_html
from penstock.results import records
from penstock.results.from_json import read_analysis


class Analysis(records.Analysis):
    """What limits a training, why, and what would change it: see `verdict` and `sentence` first."""

    __slots__ = ()

    @overload
    def to_html(self, path: None = None, *, before: records.Analysis | None = None) -> str: ...
    @overload
    def to_html(
        self, path: str | PathLike[str], *, before: records.Analysis | None = None
    ) -> None: ...
    def to_html(
        self, path: str | PathLike[str] | None = None, *, before: records.Analysis | None = None
    ) -> str | None:
        """Write the report as one HTML file that needs no network; without a path, return it.

        `before` is an earlier analysis to compare with. Needs `pip install "penstock[report]"`.
        """
        if path is None:
            return draw_page(self, before=before)
        write_html(self, path, before=before)
        return None

    def to_json(self) -> str:
        """Return all figures as JSON, which `from_json` and `penstock report` read."""
        return json.dumps(self.to_dict())

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json()` into a file."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.to_json())
        except OSError as error:
            raise AnalysisError(
                f"{fspath(path)}: cannot write the analysis: {error.strerror}. "
                "Name a file in a folder that you may write to."
            ) from error

    @classmethod
    def from_json(cls, path: str | PathLike[str]) -> Analysis:
        """Read an analysis that `save` or `penstock analyze --json` wrote, and check it."""
        found = read_analysis(fspath(path))
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def print(self, *, before: records.Analysis | None = None) -> None:
        """Print what matters in the terminal, beside the analysis `before` a change if given."""
        print_terminal(self, before=before)
