"""What a thread is doing, told from its stack: reading, decoding, an op, putting batches together.

Files and functions of known libraries are markers. Between a marker and the bottom of the stack
lies whatever it calls; the user's own lines in between say where it was called.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from types import CodeType, FrameType
from typing import Any


class Stage(Enum):
    """A part of what a loader or a training loop does."""

    READ = "reading"
    DECODE = "decoding"
    OP = "augmenting"
    COLLATE = "putting batches together"
    HAND_OVER = "handing batches over"
    OWN = "own code"
    ENGINE = "penstock's engine"
    IDLE = "waiting for work"  # a worker without a request, or a loop that waits for workers
    STEP = "the training step"
    COPY = "copying to the device"


@dataclass(frozen=True, slots=True)
class Doing:
    """What a thread was seen doing; the place is a line of the user's, as file:line."""

    stage: Stage
    name: str = ""
    place: str = ""


class _Kind(Enum):
    """What a function is to us, whoever calls it."""

    NEXT = 0  # where a loop asks for a batch
    WORKER = 1
    FETCH = 2
    COLLATE = 3
    HAND_OVER = 4
    READ = 5
    DECODE = 6
    CONVERT = 7  # of an image that is being decoded, unless an op asks for it
    OP = 8  # a method of a transform, or a function of a library of transforms
    CONTAINER = 9  # of transforms
    CALL = 10  # torch's way from a module to its forward
    ENGINE = 11
    COPY = 12
    USER = 13
    OTHER = 14


_READERS = frozenset(
    {
        *("socket", "ssl", "http", "urllib", "ftplib", "requests", "urllib3", "botocore", "boto3"),
        *("s3transfer", "aiohttp", "httpx", "httpcore", "fsspec", "s3fs", "gcsfs", "adlfs"),
        *("smart_open", "h5py", "lmdb", "zarr", "tarfile", "zipfile", "webdataset", "paramiko"),
        "gzip",
    }
)
_DECODERS = frozenset(
    {
        *("imageio", "turbojpeg", "simplejpeg", "av", "decord", "pydicom", "tifffile", "rawpy"),
        "nibabel",
    }
)
_OP_LIBRARIES = (
    *("torchvision.transforms", "torchvision.prototype.transforms", "albumentations", "albucore"),
    *("kornia", "monai.transforms", "torchio.transforms", "imgaug.augmenters"),
    *("timm.data.auto_augment", "timm.data.random_erasing", "timm.data.transforms"),
    *("timm.data.mixup", "penstock.transforms", "skimage", "scipy.ndimage"),
)
_CONTAINER_FILES = ("torchvision.transforms.v2._container", "albumentations.core.composition")
_CONTAINERS = frozenset({"Compose", "RandomApply", "RandomChoice", "RandomOrder", "Sequential"})
_COPIERS = frozenset({"move_data_to_device", "send_to_device", "recursive_to", "to_device"})
_PUTS = frozenset({"put", "_feed", "dumps", "loads"})
# Functions in C have no frame of their own: the line that calls them has to tell.
_READS_LINE = re.compile(
    r"\bopen\(|\.read(?:all|_bytes|into)?\(|\.recv|urlopen\(|np\.(?:load|from)"
)
_DECODES_LINE = re.compile(r"cv2\.im(?:read|decode)|\bdecode_jpe?g\(|\bImage\.open\(")
_COPIES_LINE = re.compile(r"\.(?:to|cuda)\(")
_CALLED = re.compile(r"\b((?:cv2|torch|np|numpy|F|TF|scipy|ndimage)(?:\.\w+)+)\(")


class FrameReader:
    """Reads stacks; `folder` is where the user's own files are, for short names of places."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        self._kinds: dict[CodeType, _Kind] = {}
        self._files: dict[CodeType, str] = {}

    def mark_next(self, code: CodeType) -> None:
        """Take a function for the one that asks a loader for its next batch."""
        self._kinds[code] = _Kind.NEXT

    def read(self, frame: FrameType | None) -> Doing:
        """Say what the thread whose innermost frame this is was doing."""
        stack: list[tuple[FrameType, _Kind]] = []
        while frame is not None:
            kind = self._kinds.get(frame.f_code)
            if kind is None:
                kind = self._kinds[frame.f_code] = self._kind(frame.f_code)
            stack.append((frame, kind))
            if kind in {_Kind.NEXT, _Kind.WORKER}:
                break
            frame = frame.f_back
        else:
            return self._step(stack)
        return self._loading(stack)

    def _step(self, stack: list[tuple[FrameType, _Kind]]) -> Doing:
        if not stack:
            return Doing(Stage.STEP)
        innermost, kind = stack[0]
        copies = any(kind is _Kind.COPY for _, kind in stack)
        if copies or (kind is _Kind.USER and _COPIES_LINE.search(_line(innermost))):
            return Doing(Stage.COPY, place=self._place(stack))
        return Doing(Stage.STEP)

    def _loading(self, stack: list[tuple[FrameType, _Kind]]) -> Doing:
        """Say which part of loading it is; reading inside of decoding is reading, and so on."""
        found, op, collate = _trace(stack)
        place = self._place(stack)
        innermost, kind = stack[0]
        line = _line(innermost) if kind in {_Kind.USER, _Kind.FETCH, _Kind.OTHER} else ""
        if _Kind.READ in found:
            return Doing(Stage.READ, _top_package(found[_Kind.READ].f_code), place)
        if _Kind.DECODE in found or (_Kind.CONVERT in found and not op):
            return Doing(Stage.DECODE, "", place)
        if op:
            return Doing(Stage.OP, op, place)
        if collate is not None:
            return Doing(Stage.COLLATE, _function_name(collate), place)
        if _Kind.COLLATE in found or (kind is _Kind.FETCH and "collate_fn" in line):
            return Doing(Stage.COLLATE, _collate_name(found.get(_Kind.FETCH)), place)
        if _Kind.FETCH in found or _Kind.USER in found:
            return _of_line(line, kind, place) or self._own(stack, place)
        if _Kind.HAND_OVER in found:
            return Doing(Stage.HAND_OVER)
        return Doing(Stage.ENGINE) if _Kind.ENGINE in found else Doing(Stage.IDLE)

    def _own(self, stack: list[tuple[FrameType, _Kind]], place: str) -> Doing:
        user = next((frame for frame, kind in stack if kind is _Kind.USER), None)
        return Doing(Stage.OWN, "the data set" if user is None else _function_name(user), place)

    def _place(self, stack: list[tuple[FrameType, _Kind]]) -> str:
        for frame, kind in stack:
            if kind is _Kind.USER:
                file = self._files.get(frame.f_code)
                if file is None:  # asking the disk takes longer than all the rest
                    file = self._files[frame.f_code] = self._short(frame.f_code.co_filename)
                return f"{file}:{frame.f_lineno or frame.f_code.co_firstlineno}"
        return ""

    def _short(self, file: str) -> str:
        file = os.path.realpath(file)
        if file.startswith(self._folder + os.sep):
            return os.path.relpath(file, self._folder)
        return os.path.basename(file)

    def _kind(self, code: CodeType) -> _Kind:
        module, name = _module(code), code.co_name
        top = module.partition(".")[0]
        if module.startswith("torch."):
            return _kind_in_torch(module, name)
        if top == "multiprocessing":
            return _Kind.HAND_OVER if name in _PUTS else _Kind.OTHER
        if top == "PIL":
            return _kind_in_pillow(module, name)
        if top in _READERS or (module == "torchvision.io.image" and name == "read_file"):
            return _Kind.READ
        if top in _DECODERS or module.startswith(("torchvision.io", "skimage.io")):
            return _Kind.DECODE
        if module in _CONTAINER_FILES:
            return _Kind.CONTAINER
        if any(module == one or module.startswith(one + ".") for one in _OP_LIBRARIES):
            return _Kind.OP
        if name in _COPIERS:
            return _Kind.COPY
        if module.startswith(("penstock.loading", "penstock.translation")):
            return _Kind.ENGINE
        return _Kind.OTHER if module else _Kind.USER


def _trace(
    stack: list[tuple[FrameType, _Kind]],
) -> tuple[dict[_Kind, FrameType], str, FrameType | None]:
    """Return the outermost frame of each kind, the name of the op and the collate function.

    An op that only holds others, such as Compose, does not count; what it calls does.
    """
    found: dict[_Kind, FrameType] = {}
    op, collate, caller = "", None, _Kind.OTHER
    for frame, kind in reversed(stack):
        found.setdefault(kind, frame)
        if kind is _Kind.OP and not op:
            op, is_container = _op_name(frame)
            if is_container:
                op, caller = "", _Kind.CONTAINER
                continue
        elif kind is _Kind.USER and (op == "Lambda" or (caller is _Kind.CONTAINER and not op)):
            op = _own_op_name(frame)
        elif caller is _Kind.FETCH and _is_collate(frame, found[_Kind.FETCH]):
            collate = frame
        if kind is not _Kind.CALL:
            caller = kind
    return found, op, collate


def _kind_in_torch(module: str, name: str) -> _Kind:
    if module == "torch.utils.data._utils.worker" and name == "_worker_loop":
        return _Kind.WORKER
    if module == "torch.utils.data._utils.fetch" and name == "fetch":
        return _Kind.FETCH
    if module == "torch.utils.data._utils.collate":
        return _Kind.COLLATE
    if module in {"torch.utils.data._utils.pin_memory", "torch.multiprocessing.reductions"}:
        return _Kind.HAND_OVER
    if module == "torch.nn.modules.module":
        return _Kind.CALL
    return _Kind.CONTAINER if module == "torch.nn.modules.container" else _Kind.OTHER


def _kind_in_pillow(module: str, name: str) -> _Kind:
    if module == "PIL.ImageFile" or module.endswith("ImagePlugin"):
        return _Kind.DECODE
    if module == "PIL.Image":
        if name in {"open", "preinit", "init", "_open_core"}:
            return _Kind.DECODE
        if name in {"convert", "load", "copy", "_new", "__init__", "__exit__", "close", "im"}:
            return _Kind.CONVERT
    return _Kind.OP


_STANDARD = os.path.realpath(sysconfig.get_path("stdlib"))
_OURS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](.*)\.pyc?$")


def _module(code: CodeType) -> str:
    """Return the dotted name of the library's file that holds a function; "" for the user's own."""
    file = code.co_filename
    if file.startswith("<"):
        return "<frozen>" if file.startswith("<frozen") else file
    installed = _INSTALLED.search(file)
    if installed is not None:
        path = installed[1]
    else:
        file = os.path.realpath(file)
        if file.startswith(_OURS + os.sep):
            path = "penstock" + file.removeprefix(_OURS)
        elif file.startswith(_STANDARD + os.sep):
            path = file.removeprefix(_STANDARD + os.sep)
        else:
            return ""
    return path.removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")


def _top_package(code: CodeType) -> str:
    return _module(code).partition(".")[0]


def _self(frame: FrameType) -> Any:
    """Return the object whose method runs, if it is one."""
    code = frame.f_code
    if not code.co_argcount or code.co_varnames[0] != "self":
        return None
    return frame.f_locals.get("self")


def _op_name(frame: FrameType) -> tuple[str, bool]:
    """Return the name of the transform that runs, and whether it only holds others."""
    module = _module(frame.f_code)
    if module.startswith("PIL."):
        return f"{module.removeprefix('PIL.')}.{frame.f_code.co_name}", False
    owner = _self(frame)
    if owner is None:
        return frame.f_code.co_name, False
    kind = type(owner)
    return kind.__name__, kind.__name__ in _CONTAINERS


def _own_op_name(frame: FrameType) -> str:
    """Return the name of a function or class of the user's among the transforms."""
    owner = _self(frame)
    return frame.f_code.co_name if owner is None else type(owner).__name__


def _function_name(frame: FrameType) -> str:
    owner = _self(frame)
    name = frame.f_code.co_name
    return name if owner is None else f"{type(owner).__name__}.{name}"


def _is_collate(frame: FrameType, fetch: FrameType) -> bool:
    """Whether torch's fetcher called this function to put a batch together."""
    collate = getattr(_self(fetch), "collate_fn", None)
    for _ in range(4):  # partial objects may hold partial objects
        inner = getattr(collate, "func", None)
        if inner is None:
            break
        collate = inner
    if not hasattr(collate, "__code__"):
        collate = getattr(type(collate), "__call__", None)  # noqa: B004 (its code is wanted)
    return getattr(collate, "__code__", None) is frame.f_code


def _collate_name(fetch: FrameType | None) -> str:
    collate = None if fetch is None else getattr(_self(fetch), "collate_fn", None)
    return getattr(collate, "__name__", None) or type(collate).__name__


def _of_line(line: str, kind: _Kind, place: str) -> Doing | None:
    """Say what the innermost line calls, if that is a function without a frame of its own."""
    if _DECODES_LINE.search(line):
        return Doing(Stage.DECODE, "", place)
    if _READS_LINE.search(line):
        return Doing(Stage.READ, "files", place)
    called = _CALLED.search(line) if kind is _Kind.USER else None
    return None if called is None else Doing(Stage.OWN, called[1], place)


def _line(frame: FrameType) -> str:
    """Return the expression that a frame is at, or its whole line where Python does not tell."""
    # A frame that has just begun may have no line yet, whatever its type says.
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno or 0)
    if sys.version_info < (3, 11):
        return line
    at = next(islice(frame.f_code.co_positions(), max(frame.f_lasti, 0) // 2, None), None)
    if at is None or at[0] != frame.f_lineno or at[0] != at[1] or None in at:
        return line
    return line.encode()[at[2] : at[3]].decode(errors="replace")
