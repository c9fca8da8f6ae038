"""Objects of the user's that a command names as `MODULE:OBJECT`: loaders, steps, transforms.

And the loader that `penstock analyze` makes of a folder or a packed file, where none is named.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from penstock.cli.shared import open_given
from penstock.errors import AnalysisError, PenstockError, TransformError
from penstock.showing.presets import DEFAULT, PRESETS
from penstock.storage.address import is_address

if TYPE_CHECKING:
    from penstock.analysis.user_code import UserCode

CROP_PX = 224
BATCH_SIZE = 64


def add_pipeline(verb: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add --transform and --preset; returns the group, for other ways to say what to do."""
    group = verb.add_mutually_exclusive_group()
    group.add_argument(
        "--transform",
        metavar="PLACE",
        help="your own pipeline: FILE.py:OBJECT or PACKAGE.MODULE:OBJECT",
    )
    group.add_argument(
        "--preset",
        choices=PRESETS,
        metavar="NAME",
        help=f"a pipeline by name: {', '.join(PRESETS)} (default: {DEFAULT})",
    )
    return group


def load_pipeline(args: argparse.Namespace) -> Any:
    """Return the pipeline that `add_pipeline` has read, after checking that it can be run."""
    if args.transform is None:
        from penstock.showing.presets import make_preset

        return make_preset(args.preset or DEFAULT)
    from penstock.planner.plan import as_written
    from penstock.translation.transforms.translate import translate

    found = load_as_is(args.transform)
    try:
        as_written(translate(found).transform)
    except TransformError as error:
        raise TransformError(f"{args.transform}: {error}") from None
    return found


def load_object(name: str) -> Any:
    """Import `package.module:object` or `file.py:object`.

    A class, or a function that needs no arguments, is called: what it returns is meant.
    """
    value = load_as_is(name)
    if not _is_maker(value):
        return value
    try:
        return value()
    except Exception as error:
        raise PenstockError(f"{name}() failed: {type(error).__name__}: {error}") from error


def load_as_is(name: str) -> Any:
    """Import `package.module:object` or `file.py:object`, and call nothing."""
    return load_several([name])[0]


def load_several(names: Sequence[str]) -> list[Any]:
    """Import several objects; a file that has more than one of them runs once."""
    homes: dict[str, ModuleType] = {}
    return [_load(name, homes) for name in names]


def _load(name: str, homes: dict[str, ModuleType]) -> Any:
    home, _, attributes = name.rpartition(":")
    if not home or not attributes:
        raise PenstockError(
            f"{name}: names no object. Write FILE.py:OBJECT or PACKAGE.MODULE:OBJECT."
        )
    if home not in homes:
        homes[home] = _import(home)
    value: Any = homes[home]
    for attribute in attributes.split("."):
        if not hasattr(value, attribute):
            raise PenstockError(f"{name}: {home} has no {attributes}. Check the name.")
        value = getattr(value, attribute)
    return value


def file_of(name: str) -> str | None:
    """Return the file that defines what `load_object` was asked for; None if there is none."""
    module_name = name.rpartition(":")[0]
    if module_name.endswith(".py"):
        return module_name
    return getattr(sys.modules.get(module_name), "__file__", None)


def _import(home: str) -> ModuleType:
    is_file = home.endswith(".py")
    if is_file and not os.path.isfile(home):
        raise PenstockError(f"{home}: no such file. Check the path.")
    folder = os.path.dirname(os.path.abspath(home)) if is_file else os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python FILE.py` and `python -m MODULE` have it
    try:
        return _run_file(home) if is_file else importlib.import_module(home)
    # Whatever the user's module raises, or that it ends the program, is worth a sentence.
    except (Exception, SystemExit) as error:
        is_missing = isinstance(error, ModuleNotFoundError) and home.startswith(error.name or "?")
        advice = (
            "Check the name, and that you run this in its folder."
            if is_missing
            else "Keep what trains behind `if __name__ == '__main__':`."
        )
        raise PenstockError(
            f"{home}: cannot be imported ({type(error).__name__}: {error}). {advice}"
        ) from error


def _run_file(path: str) -> ModuleType:
    # Under its own name, so that what it defines can be pickled and found again.
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _is_maker(value: Any) -> bool:
    if inspect.isclass(value):
        return True
    if not inspect.isfunction(value):
        return False
    return all(
        parameter.default is not parameter.empty
        or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        for parameter in inspect.signature(value).parameters.values()
    )


def is_object(data: str) -> bool:
    """Tell MODULE:OBJECT from a folder or file, whatever its name, and from an address."""
    return ":" in data and not is_address(data) and not os.path.exists(data)


def open_loader(args: argparse.Namespace) -> tuple[Any, UserCode | None]:
    """Return the loader, and the user's code that makes it where that is a file's."""
    if is_object(args.data):
        return _users_own(args)
    from penstock.loading.loader import Loader

    loader = Loader(
        open_given(args, args.data),
        batch_size=args.batch_size or BATCH_SIZE,
        transform=_transform(args.transform),
        shuffle=True,
        threads=args.threads,
        on_error=args.on_error or "raise",
    )
    return loader, None


def _users_own(args: argparse.Namespace) -> tuple[Any, UserCode | None]:
    from penstock.analysis.user_code import read_user_code
    from penstock.loading.loader import Loader
    from penstock.translation.delivery import AcceleratedLoader

    own = ("batch_size", "threads", "transform", "on_error", "kind", "split", "cache")
    for option in (*own, "cache_limit"):
        if getattr(args, option) is not None:
            raise AnalysisError(
                f"--{option.replace('_', '-')}: {args.data} is a loader with its own. Leave the "
                "option out, or name a data set."
            )
    loader = load_object(args.data)
    torch_data = sys.modules.get("torch.utils.data")
    known = (Loader, AcceleratedLoader, *([] if torch_data is None else [torch_data.DataLoader]))
    if not isinstance(loader, known):
        raise AnalysisError(
            f"{args.data}: is of type {type(loader).__name__}. Name a torch DataLoader, a penstock "
            "Loader, or a function without arguments that makes one."
        )
    file = file_of(args.data)
    name = args.data.rpartition(":")[2].split(".", maxsplit=1)[0]
    return loader, None if file is None else read_user_code(file, name)


def open_step(name: str | None) -> Any:
    """Return the user's training step; None if none is named."""
    if name is None:
        return None
    step = load_as_is(name)
    if isinstance(step, type) or not callable(step):
        raise AnalysisError(
            f"--step {name}: is of type {type(step).__name__}. Name a function that is called with "
            "each batch."
        )
    return step


def _transform(name: str | None) -> Any:
    from penstock import transforms as T

    if name is None:
        return T.Compose(
            [
                T.RandomResizedCrop(CROP_PX),
                T.RandomHorizontalFlip(),
                T.RandAugment(),
                T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
            ]
        )
    return load_object(name)
