"""Files and folders of a data set: how they are read and listed, and what their names say.

Names that come from a file are made safe to write a file to. Files beside the data (lists of
classes) and files that belong together (numbered shards) are found here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache

from penstock._core import MappedFile
from penstock.errors import SourceError
from penstock.limits import beyond, how_to_allow, limits_in_force
from penstock.packing.datasets.layout_source import Asked
from penstock.printable import printable
from penstock.regular_file import open_regular
from penstock.resources import raise_if_refused
from penstock.sources.image_folder import SPLIT_FOLDERS
from penstock.sources.scan import IMAGE_EXTENSIONS

MOST_MAPS = 16  # each is an open file
_DRIVE = re.compile(r"[A-Za-z]:")
_EXTENSION_OF = {
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG": ".png",
    b"GIF8": ".gif",
    b"BM": ".bmp",
    b"II*\0": ".tif",
    b"MM\0*": ".tif",
}

# Columns with a meaning of their own.
RESERVED_COLUMNS = frozenset(["boxes", "box_labels", "keypoints", "label", "masks", "name"])
# `train-00003-of-00128.parquet`, `part_000001_000004.parquet`, `val.tfrecord-00000-of-00002`
_NUMBERS = re.compile(r"([-_.]\d{3,}(-of-\d{3,})?)+$")
TF_EXTENSIONS = (".tfrecord", ".tfrecords", ".record")
# TensorFlow's label maps, and lists of labels.
_ITEM = re.compile(r"\bitem\s*\{([^{}]*)\}")
_ID = re.compile(r"\bid\s*:\s*(\d{1,18})")
_NAME = re.compile(r"""(?<![a-z_])name\s*:\s*(["'])(.*?)\1""")
_DISPLAY_NAME = re.compile(r"""\bdisplay_name\s*:\s*(["'])(.*?)\1""")
_NUMBERED = re.compile(r"(\d{1,18})\s*[:,\t ]\s*(.+)")


class MappedInput:
    """A file mapped into memory, of which slices are copies.

    If it is cut short while it is mapped, or its disk fails, that is a SourceError.
    """

    def __init__(self, path: str) -> None:
        self.title = printable(path)
        self._file: MappedFile | None = None  # none of an empty file, which cannot be mapped
        try:
            with open_regular(path) as file:
                if os.fstat(file.fileno()).st_size:
                    self._file = MappedFile(file.fileno())
        except OSError as error:
            raise unreadable(path, error) from error
        self.view = memoryview(b"") if self._file is None else self._file.bytes.data

    def __len__(self) -> int:
        return len(self.view)

    def __getitem__(self, span: slice) -> bytes:
        copied = bytes(self.view[span])
        self.check()
        return copied

    def check(self) -> None:
        """Raise SourceError if something that was read through `view` was no longer there."""
        file = self._file
        # After the end of a file, the rest of its last page reads as zeros, without a fault.
        if file is not None and (file.lost or os.fstat(file.descriptor).st_size < len(self.view)):
            raise SourceError(
                f"{self.title}: was cut short while it was read, or its disk failed. Get it again."
            )


def kept_maps() -> Callable[[str], MappedInput]:
    """Return a function that maps files and keeps those used last, as mapping takes long."""
    return lru_cache(maxsize=MOST_MAPS)(MappedInput)


def read_bytes(path: str, limit: str) -> bytes:
    """Read a whole file; `limit` is the name of the one in `Limits` that holds for it."""
    allowed: int = getattr(limits_in_force(), limit)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(allowed + 1) if size <= allowed else b""
    except OSError as error:
        raise unreadable(path, error) from error
    size = max(size, len(data))
    check_limit(limit, size, f"{printable(path)}: {size:,} bytes. Is this the right file?")
    return data


def read_text(path: str, limit: str) -> str:
    """Read a whole text file in UTF-8."""
    try:
        return read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{printable(path)}, byte {error.start:,}: not UTF-8 text. Save it as UTF-8."
        ) from error


def read_lines(path: str, limit: str = "text_bytes") -> list[tuple[str, str]]:
    """Return the lines of a text file that are not blank, each with what errors call it."""
    lines = enumerate(read_text(path, limit).splitlines(), start=1)
    return [(f"{printable(path)}, line {n}", line.strip()) for n, line in lines if line.strip()]


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, sorted."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise unreadable(folder, error) from error


def images_below(folder: str) -> list[str]:
    """Return the image files below a folder, relative to it with "/", sorted."""
    found = []

    def refuse(error: OSError) -> None:
        raise unreadable(error.filename, error) from error

    for directory, _, names in os.walk(folder, onerror=refuse):
        prefix = os.path.relpath(directory, folder).replace(os.sep, "/") + "/"
        prefix = "" if prefix == "./" else prefix
        found += [prefix + name for name in names if is_image_name(name)]
    return sorted(found)


def has_folder(folder: str, name: str) -> bool:
    """Whether there is a folder of this name in another one."""
    return os.path.isdir(os.path.join(folder, name))


def is_image_name(name: str) -> bool:
    """Tell from its extension whether a file is an image."""
    return name.lower().endswith(IMAGE_EXTENSIONS)


def check_limit(limit: str, count: int, what: str, *, counting: bool = False) -> None:
    """Raise SourceError, which begins with `what`, if `count` is beyond one of the `Limits`.

    `counting` says that more may follow, so that the number needed is not known.
    """
    if beyond(limit, count):
        end = "" if what.endswith("?") else "."
        raise SourceError(f"{what}{end} {how_to_allow(limit, None if counting else count)}.")


def cut_short(where: str) -> SourceError:
    """Return the error for a file that ends in the middle of a record."""
    return SourceError(f"{where}: the file ends inside it. It was cut short; get it again.")


def unreadable(path: str, error: OSError) -> SourceError:
    """Return the error for a file or folder that the system does not let us read."""
    raise_if_refused(error, printable(path))
    return SourceError(f"{printable(path)}: it cannot be read ({error.strerror}). Check the path.")


def safe_name(name: str, where: str) -> str:
    """Return a name with "/" between its parts, or raise: it must stay below its folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", "."}]
    if not parts or "\0" in name or not _can_be_stored(name):
        raise SourceError(f"{where}: {name[:80]!r} cannot name a file. Correct the name.")
    if name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in parts:
        raise SourceError(
            f"{where}: the name {name[:80]!r} leads out of the data set. "
            "If you trust the file, make its names relative, without '..'."
        )
    return "/".join(parts)


def _can_be_stored(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # a lone surrogate, which JSON can write and no file system can
        return False
    return True


def image_extension(data: bytes) -> str | None:
    """Return the extension that goes with a file's first bytes, or None if it is not an image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((ext for magic, ext in _EXTENSION_OF.items() if data.startswith(magic)), None)


def numbered_name(index: int, data: bytes, prefix: str = "") -> str:
    """Return a name for an image that has none."""
    return f"{prefix}{index:08d}{image_extension(data) or '.bin'}"


def image_name(name: str, data: bytes, where: str) -> str:
    """Return a safe name for an image, with an extension."""
    name = safe_name(name, where)
    return name if is_image_name(name) else name + (image_extension(data) or "")


def user_column_name(name: str) -> str:
    """Return the name of the column for a field that has no meaning to us."""
    name = name.replace("/", "_").replace(".", "_")
    return f"{name}_field" if name in RESERVED_COLUMNS else name


def record_sets(folder: str, extensions: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files of a folder, and of folders in it named like splits, by data set."""
    sets: dict[str, list[str]] = {}
    for below in ("", *(name for name in names_in(folder) if _is_split(folder, name))):
        for name in names_in(os.path.join(folder, below)):
            unnumbered = _NUMBERS.sub("", name)
            if not unnumbered.lower().endswith(extensions):
                stem, extension = os.path.splitext(unnumbered)
                if extension.lower() not in extensions:
                    continue
                unnumbered = stem
            key = _NUMBERS.sub("", _without_extension(unnumbered, extensions))
            sets.setdefault(key, []).append(os.path.join(folder, below, name))
    return {key: sorted(files) for key, files in sorted(sets.items())}


def choose_record_files(path: str, extensions: tuple[str, ...], asked: Asked) -> list[str]:
    """Return the files to read: one given, or those of one data set in a folder."""
    if not os.path.isdir(path):
        return [path]
    sets = record_sets(path, extensions)
    if not sets:
        raise SourceError(f"{printable(path)}: no {' or '.join(extensions)} files in it.")
    return sets[asked.choose_split(path, list(sets))]


def recognise_record_files(path: str, extensions: tuple[str, ...]) -> str | None:
    """Return the name of the first file with such an extension, or of `path` itself if it has."""
    folder, name = (path, None) if os.path.isdir(path) else os.path.split(path)
    files = [file for found in record_sets(folder or ".", extensions).values() for file in found]
    names = [os.path.relpath(file, folder or ".") for file in files]
    if name is None:
        return names[0] if names else None
    return name if name in names else None


def recognise_file(path: str, extensions: tuple[str, ...]) -> str | None:
    """Return the name of a file with such an extension: `path`, or the first in that folder."""
    names = names_in(path) if os.path.isdir(path) else [os.path.basename(path)]
    return next((name for name in names if name.lower().endswith(extensions)), None)


def only_file(path: str, extensions: tuple[str, ...]) -> str:
    """Return the file to read: the one given, or the only one of a folder."""
    if not os.path.isdir(path):
        return path
    found = [name for name in names_in(path) if name.lower().endswith(extensions)]
    if len(found) != 1:
        raise SourceError(
            f"{printable(path)}: {len(found)} files to choose from ({', '.join(found[:10])}). "
            "Give one of them."
        )
    return os.path.join(path, found[0])


def _without_extension(name: str, extensions: tuple[str, ...]) -> str:
    for extension in extensions:
        if name.lower().endswith(extension):
            name = name[: -len(extension)]
    return name


def _is_split(folder: str, name: str) -> bool:
    return name in SPLIT_FOLDERS and has_folder(folder, name)


def class_names_beside(path: str) -> dict[int, str]:
    """Return number and name of the classes of a record file, from the files in its folder.

    A single `*.pbtxt`, `labels.txt`, or `<beginning of the record's name>labels.txt` will do.
    """
    folder, record = os.path.split(os.path.abspath(path))
    names = names_in(folder)
    maps = [name for name in names if name.endswith(".pbtxt")]
    if len(maps) == 1:
        return read_label_map(os.path.join(folder, maps[0]))
    lists = [n for n in names if n.endswith("labels.txt")]
    lists = [n for n in lists if record.startswith(n.removesuffix("labels.txt"))]
    if lists:
        return read_label_list(os.path.join(folder, max(lists, key=len)))
    return {}


def read_label_map(path: str) -> dict[int, str]:
    """Read the Object Detection API's `item { id: 1 name: 'cat' }`; display names win."""
    where = printable(path)
    found: dict[int, str] = {}
    for number, item in enumerate(_ITEM.finditer(read_text(path, "text_bytes"))):
        identity = _ID.search(item.group(1))
        name = _DISPLAY_NAME.search(item.group(1)) or _NAME.search(item.group(1))
        if identity is None or name is None:
            raise SourceError(f"{where}, item {number}: it needs an id and a name.")
        if int(identity.group(1)) in found:
            raise SourceError(f"{where}, item {number}: the id {identity.group(1)} is there twice.")
        found[int(identity.group(1))] = name.group(2)
    return found


def read_label_list(path: str) -> dict[int, str]:
    """Read one name per line, with its number before it (`0:daisy`) or counted from 0."""
    lines = [line for _, line in read_lines(path)]
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if all(numbered):
        return {int(match.group(1)): match.group(2) for match in numbered if match}
    return dict(enumerate(lines))
