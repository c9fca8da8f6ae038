"""Every error penstock raises on purpose. Imports nothing of ours.

Messages read: where, what is wrong, what was got, what to do.
"""


class PenstockError(Exception):
    """Base of every error penstock raises on purpose."""


class TransformError(PenstockError, ValueError):
    """A transform was given parameters, or an image, it cannot work with."""


class SourceError(PenstockError, ValueError):
    """A folder, a labels file or a list of files is not what it should be."""


class DecodeError(PenstockError, OSError):
    """A file could not be read or is not an image we can decode; names the file."""


class PackError(PenstockError, ValueError, OSError):
    """A packed file cannot be written, or is damaged, cut short or of an unknown version."""


class LoaderError(PenstockError, RuntimeError):
    """The loader was set up or used in a way that cannot work."""


class OutputError(PenstockError, OSError):
    """A file with results could not be written."""


class AnalysisError(PenstockError, ValueError):
    """An analysis cannot be made, read or drawn, or was asked for what cannot be measured."""


class TranslationError(PenstockError, ValueError):
    """A DataLoader has no equivalent; `reasons` says what in it."""

    def __init__(self, message: str, reasons: tuple[str, ...]) -> None:
        super().__init__(message)
        self.reasons = reasons


class CoreError(PenstockError, ValueError):
    """The native core was handed something that does not fit: a mistake of ours, not the data's."""
