"""Write the files of a data set that is made here, once, and never touch anybody else's folder.

A marker in the folder says what the set was made from. It is written before the first file, so
that an interrupted set can be completed, and again with the number of bytes after the last one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError, SourceError
from penstock.progress import ProgressBar
from penstock.resources import Pool
from penstock.usable_cores import usable_cores

MARKER_NAME = ".penstock-sample-set.json"


def make_set(
    folder: str | os.PathLike[str],
    parameters: Mapping[str, int],
    files: Sequence[Path],
    start: Callable[[], Callable[[Path], bytes]],
    *,
    title: str,
    progress: bool | None,
) -> Path:
    """Make the files, whose paths are relative to `folder`; return the folder.

    `start` is called if there is anything to make, and returns what makes the bytes of a file.
    `parameters` are all that the bytes depend on, "recipe" among them. A folder that already holds
    this very set is left as it is; one that holds anything else is refused.
    """
    target = Path(os.path.expanduser(folder))
    try:
        if not _holds(target, parameters, files):
            _write(target, parameters, files, start(), title, progress)
    except PenstockError:
        raise
    except OSError as error:
        raise SourceError(
            f"{target}: the sample set cannot be written ({error.strerror}). Choose another folder."
        ) from error
    return target


def _holds(target: Path, parameters: Mapping[str, int], files: Sequence[Path]) -> bool:
    """Tell whether the set is there and whole; refuse a folder that holds something else."""
    if not target.is_dir() or not any(target.iterdir()):
        return False
    try:
        marker = json.loads((target / MARKER_NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        marker = None
    if not isinstance(marker, dict) or "recipe" not in marker:
        raise SourceError(
            f"{target}: not empty, and not a sample set. Choose an empty or a new folder."
        )
    found = {name: value for name, value in marker.items() if name != "bytes"}
    if found != parameters:
        raise SourceError(
            f"{target}: holds another sample set ({_describe(found)}). "
            "Choose another folder, or delete that one."
        )
    paths = [target / path for path in files]
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return len(sizes) == len(paths) and sum(sizes) == marker.get("bytes")


def _describe(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in parameters.items())


def _write(
    target: Path,
    parameters: Mapping[str, int],
    files: Sequence[Path],
    make: Callable[[Path], bytes],
    title: str,
    progress: bool | None,
) -> None:
    for folder in {(target / path).parent for path in files}:
        folder.mkdir(parents=True, exist_ok=True)
    marker = target / MARKER_NAME
    marker.write_text(json.dumps(dict(parameters)), encoding="utf-8")

    def write_one(path: Path) -> int:
        return (target / path).write_bytes(make(path))

    total = 0
    with (
        ProgressBar(title, total=len(files), unit="images", show=progress) as bar,
        Pool(min(32, usable_cores() + 4)) as pool,
    ):
        try:
            for written in pool.map(write_one, files):
                total += written
                bar.advance()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    marker.write_text(json.dumps({**parameters, "bytes": total}), encoding="utf-8")
