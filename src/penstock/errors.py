"""Every error penstock raises on purpose.

Messages read: where, what is wrong, what was got, what to do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from penstock.printable import MOST_PER_LINE, printable, printable_lines


class PenstockError(Exception):
    """Base of every error penstock raises on purpose."""

    # Whether a message is plain sentences on one line. Text that it quotes from files must then
    # not begin a new line, which could be mistaken for ours.
    _one_line: ClassVar[bool] = False

    def __str__(self) -> str:
        """Return the message; what it quotes from files is made safe for terminals."""
        message = super().__str__()
        return printable(message, MOST_PER_LINE) if self._one_line else printable_lines(message)


class TransformError(PenstockError, ValueError):
    """A transform was given parameters, or an image, it cannot work with."""


class TransformTypeError(TransformError, TypeError):
    """A transform was given something of a kind that it does not take."""


class DimensionError(TransformError, IndexError):
    """A tensor has too few dimensions for an image; torchvision raises the one or the other."""


class NoKernelError(TransformTypeError):
    """A function has no kernel for the class of an input, which may be one of the user's own."""


class LossyError(TransformError, RuntimeError):
    """A conversion was asked for that cannot keep what was given, or cannot be turned around."""


class SourceError(PenstockError, ValueError):
    """A folder, a labels file or a list of files is not what it should be."""

    _one_line = True


class DecodeError(PenstockError, OSError):
    """A file could not be read or is not an image we can decode; names the file."""

    _one_line = True


class PackError(PenstockError, ValueError, OSError):
    """A packed file cannot be written, or is damaged, cut short or of an unknown version."""

    _one_line = True


class LoaderError(PenstockError, RuntimeError):
    """The loader was set up or used in a way that cannot work."""


class SampleIndexError(LoaderError, IndexError):
    """A data set was asked for a sample that it does not have."""


class PlanError(PenstockError, RuntimeError):
    """A plan that the planner made does not hold: a fault of penstock, not of the user."""


class ResourceError(PenstockError, OSError):
    """The machine lacks or refuses something: threads, open files, memory, a disk that answers.

    No sample is at fault, so none is skipped or replaced because of it.
    """

    _one_line = True


class PythonEndsError(ResourceError):
    """Python is ending, and starts no more work for threads that still run."""


class StorageError(ResourceError):
    """An object store cannot be reached, refuses, or has another object than before.

    As with the rest of the machine, no sample is at fault.
    """


class OutputError(PenstockError, OSError):
    """A file with results could not be written."""

    _one_line = True


class AnalysisError(PenstockError, ValueError):
    """An analysis cannot be made, read or drawn, or was asked for what cannot be measured."""


class CertifyError(PenstockError, ValueError):
    """Images cannot be compared as asked, or a certificate is damaged or of an unknown version."""

    _one_line = True


class TranslationError(PenstockError, ValueError):
    """A DataLoader has no equivalent; `reasons` says what in it."""

    def __init__(self, message: str, reasons: tuple[str, ...]) -> None:
        super().__init__(message)
        self.reasons = reasons


class SearchError(PenstockError, ValueError, RuntimeError):
    """A search for a schedule was asked for what cannot be, or one of its trainings failed."""


class CoreError(PenstockError, ValueError):
    """The native core was given something that does not fit: a mistake of ours, not of the data."""


@contextmanager
def told_by(name: str) -> Iterator[None]:
    """Have errors about what a Loader also has begin with the class that the user has made."""
    try:
        yield
    except PenstockError as error:
        message = str(error.args[0]) if error.args else ""
        if message.startswith(_OF_A_LOADER):
            error.args = (f"{name}: {message.removeprefix(_OF_A_LOADER)}", *error.args[1:])
        raise


_OF_A_LOADER = "Loader: "
