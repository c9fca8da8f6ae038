"""A folder of images, and a CSV or TSV file that says which label each has."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from penstock.errors import SourceError
from penstock.limits import how_to_allow, limits_in_force
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.sources.image_folder import existing_folder
from penstock.sources.label_column import LabelColumn, LabelKind
from penstock.sources.source import FileSource, PathTable

LINES_PER_TICK = 1024
# Header names that speak for themselves, compared in lower case.
FILE_COLUMNS = frozenset(
    {"file", "filename", "file_name", "path", "file_path", "filepath", "image"}
)
LABEL_COLUMNS = frozenset({"label", "labels", "class", "class_name", "target", "category"})
_MOST_NAMED = 20
DELIMITERS = ("\t", ",", ";")  # the first one found separates the columns


def open_labels_file(
    folder: str | bytes | os.PathLike[str],
    labels_file: str | bytes | os.PathLike[str],
    *,
    file_column: str | None = None,
    label_column: str | None = None,
    label_kind: LabelKind | None = None,
    progress: bool | None = None,
) -> FileSource:
    """Open the images a table lists, in the table's order.

    Args:
        folder: Where the files are; the table's paths are relative to it.
        labels_file: Comma-, tab- or semicolon-separated text in UTF-8. Without a header its two
            columns are file and label.
        file_column: Header of the column of paths; None finds "file", "path" and the like.
        label_column: Header of the column of labels; None finds "label", "class" and the like.
        label_kind: "integer", "float" (regression) or "class" (names; label i is the i-th name in
            sorted order). None: as the first label looks.
        progress: Show a bar while reading a long table; None means if stderr is a terminal.
    """
    root = existing_folder(folder)
    table = LabelsTable(os.path.expanduser(os.fsdecode(labels_file)), file_column, label_column)
    labels = LabelColumn(table.where, label_kind)
    checked = _CheckedFiles(root, table)
    title = f"reading {os.path.basename(table.title)}"
    with ProgressBar(title, unit="lines", show=progress) as bar:
        files = PathTable.from_paths(_files(table, checked, labels, bar))
    if not len(files):
        raise SourceError(
            f"{table.title}: no line with a file and a label. Is this the right file?"
        )
    values, classes = labels.finish()
    return FileSource(f"{printable(folder)} with {table.title}", root, files, values, classes)


def _files(
    table: LabelsTable, checked: _CheckedFiles, labels: LabelColumn, bar: ProgressBar
) -> Iterator[str]:
    for number, (line, file, label) in enumerate(table.rows(), start=1):
        checked.require_new(file, line)
        labels.add(label, line)
        if number % LINES_PER_TICK == 0:
            bar.advance(LINES_PER_TICK)
        yield file


@dataclass(slots=True)
class _CheckedFiles:
    """Sees to it that every listed file exists and is listed once.

    Reads each directory once instead of asking for a million files one by one.
    """

    root: str
    table: LabelsTable
    _line_of: dict[str, int] = field(default_factory=dict)
    _names_in: dict[str, frozenset[str]] = field(default_factory=dict)

    def require_new(self, file: str, line: int) -> None:
        if not file:
            raise SourceError(
                f"{self.table.where(line)}: the file name is empty. "
                "Remove the line, or name the file."
            )
        normal = os.path.normpath(os.path.join(self.root, file))
        earlier = self._line_of.setdefault(normal, line)
        if earlier != line:
            raise SourceError(
                f"{self.table.where(line)}: {printable(file)} is already on line {earlier:,}. "
                "Remove one of the two."
            )
        if not self._exists(normal):
            hint = ""
            if line == 1 and self.table.header_line is None:
                hint = (
                    " If line 1 is a header, name its columns: open_labels_file(..., "
                    "file_column=..., label_column=...), or --file-column and --label-column."
                )
            raise SourceError(
                f"{self.table.where(line)}: no file {printable(file)} in {printable(self.root)}. "
                f"Correct the line or the folder.{hint}"
            )

    def _exists(self, path: str) -> bool:
        folder, name = os.path.split(path)
        names = self._names_in.get(folder)
        if names is None:
            try:
                names = frozenset(os.listdir(folder))
            except (OSError, ValueError) as error:  # a missing folder, a name with a zero byte
                raise_if_refused(error, printable(folder))
                names = frozenset()
            self._names_in[folder] = names
        # The second look is for file systems that do not tell upper from lower case.
        return name in names or os.path.exists(path)


@dataclass(slots=True)
class LabelsTable:
    """The labels file, line by line."""

    path: str
    file_column: str | None
    label_column: str | None
    header_line: int | None = None

    @property
    def title(self) -> str:
        """The file's name for messages."""
        return printable(self.path)

    def where(self, line: int) -> str:
        """Return how messages point at a line."""
        return f"{self.title}, line {line:,}"

    def rows(self) -> Iterator[tuple[int, str, str]]:
        """Yield line number, file and label of every line that is not blank."""
        file_at = label_at = width = -1
        for line, cells in self._lines():
            if width < 0:
                width = len(cells)
                file_at, label_at = self._columns(cells, line)
                if self.header_line is not None:
                    continue
            if len(cells) != width:
                raise SourceError(
                    f"{self.where(line)}: {len(cells)} columns where the first line has {width}. "
                    "Put names that contain the separator in quotes."
                )
            yield line, cells[file_at].strip(), cells[label_at]

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        line = 1
        try:
            with io.TextIOWrapper(
                open_regular(self.path),
                encoding="utf-8-sig",
                errors="surrogateescape",
                newline="",
            ) as text:
                delimiter = self._delimiter(self._bounded(text))
                text.seek(0)
                reader = csv.reader(self._bounded(text), delimiter=delimiter)
                for cells in reader:
                    line = reader.line_num
                    if any(cell.strip() for cell in cells):
                        yield line, cells
        except csv.Error as error:
            raise SourceError(
                f"{self.where(line)} or the next: not a table ({error}). Save it as plain text."
            ) from error
        except OSError as error:
            raise_if_refused(error, self.title)
            raise SourceError(
                f"{self.title}: this labels file cannot be read ({error.strerror}). "
                "Check the path and its permissions."
            ) from error

    def _bounded(self, text: io.TextIOWrapper) -> Iterator[str]:
        """Yield the lines, up to a limit of length: an endless line would fill the memory."""
        most = limits_in_force().document_bytes
        for number in count(1):
            line = text.readline(most + 1)
            if not line:
                return
            if len(line) > most:
                raise SourceError(
                    f"{self.where(number)}: it goes on for more than {most:,} characters. Is this "
                    f"a table of files and labels? {how_to_allow('document_bytes')}."
                )
            yield line

    def _delimiter(self, lines: Iterable[str]) -> str:
        for number, line in enumerate(lines, start=1):
            for delimiter in DELIMITERS:
                if delimiter in line:
                    return delimiter
            if line.strip():
                raise SourceError(
                    f"{self.where(number)}: one column only, {_shortened(line)!r}. "
                    "Separate file and label by a comma or a tab."
                )
        return DELIMITERS[0]

    def _columns(self, first: list[str], line: int) -> tuple[int, int]:
        """Return where file and label stand; notes the line if it is a header."""
        named = [cell.strip().lower() for cell in first]
        if self.file_column or self.label_column or FILE_COLUMNS.intersection(named):
            self.header_line = line
            return (
                self._column(first, self.file_column, FILE_COLUMNS, "file", line),
                self._column(first, self.label_column, LABEL_COLUMNS, "label", line),
            )
        if len(first) == 2:
            return 0, 1
        raise SourceError(
            f"{self.where(line)}: {len(first)} columns and no header that names them: "
            f"{_listed(first)}. Keep file and label only, or name "
            "them in a header, or with open_labels_file(..., file_column=..., label_column=...) or "
            "--file-column and --label-column."
        )

    def _column(
        self, header: list[str], chosen: str | None, known: frozenset[str], role: str, line: int
    ) -> int:
        wanted = known if chosen is None else {chosen.strip().lower()}
        matching = [i for i, cell in enumerate(header) if cell.strip().lower() in wanted]
        if len(matching) == 1:
            return matching[0]
        if chosen is not None:
            found = "no column" if not matching else f"{len(matching)} columns"
            sought = f"{found} {chosen!r}"
        else:
            sought = f"{'no' if not matching else 'more than one'} column that looks like a {role}"
        raise SourceError(
            f"{self.where(line)}: {sought}; the columns are "
            f"{_listed(header)}. Name one: "
            f"open_labels_file(..., {role}_column=...) or --{role}-column."
        )


def _listed(cells: list[str]) -> str:
    more = f" and {len(cells) - _MOST_NAMED:,} more" if len(cells) > _MOST_NAMED else ""
    return ", ".join(repr(_shortened(cell)) for cell in cells[:_MOST_NAMED]) + more


def _shortened(text: str, limit: int = 60) -> str:
    text = printable(text.strip())
    return text if len(text) <= limit else text[: limit - 3] + "..."
