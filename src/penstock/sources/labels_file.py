"""A folder of images with a table of labels beside it: CSV or TSV, with or without a header."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.errors import SourceError
from penstock.printable import printable
from penstock.progress import ProgressBar
from penstock.resources import raise_if_refused
from penstock.sources.file_source import FileSource
from penstock.sources.image_folder import existing_folder
from penstock.sources.label_column import LabelColumn, LabelKind
from penstock.sources.labels_table import LabelsTable
from penstock.sources.path_table import PathTable

LINES_PER_TICK = 1024


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
    for count, (line, file, label) in enumerate(table.rows(), start=1):
        checked.require_new(file, line)
        labels.add(label, line)
        if count % LINES_PER_TICK == 0:
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
