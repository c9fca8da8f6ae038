"""New files below a folder, whatever anybody puts into it meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from penstock.errors import PackError

if TYPE_CHECKING:
    from typing_extensions import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NewFiles:
    """Creates files below a folder: never outside of it, through a link, or in place of a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._root = os.open(path, _FOLDER)
        self._name, self._folder = "", os.dup(self._root)  # the one that was written to last

    def create(self, name: str) -> BinaryIO:
        """Create a file, and the folders that lead to it."""
        folder, _, last = name.rpartition("/")
        try:
            if folder != self._name:
                self._enter(folder)
            return os.fdopen(os.open(last, _NEW, 0o666, dir_fd=self._folder), "wb")
        except OSError as error:
            raise PackError(
                f"{os.path.join(self._path, name)}: cannot be written ({error.strerror or error})."
            ) from error
        except UnicodeEncodeError as error:
            raise PackError(
                f"{self._path}: the file {name!r} cannot be written, since names of files are "
                f"{error.encoding} here. Use a UTF-8 locale, such as LC_ALL=C.UTF-8."
            ) from error

    def _enter(self, name: str) -> None:
        inner = os.dup(self._root)
        try:
            for part in name.split("/") if name else ():
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=inner)
                outer, inner = inner, os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=inner)
                os.close(outer)
        except BaseException:
            os.close(inner)
            raise
        os.close(self._folder)
        self._name, self._folder = name, inner

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._folder)
        os.close(self._root)
