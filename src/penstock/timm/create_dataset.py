"""timm's `create_dataset`, which also finds packed files."""

from __future__ import annotations

import os
from typing import Any

from timm.data.dataset_factory import create_dataset as create_timm_dataset
from timm.utils.misc import natural_key

from penstock.errors import LoaderError, SourceError
from penstock.torch.dataset import Dataset

_SUFFIX = ".pen"
_SYNONYMS = (("train", "training"), ("val", "valid", "validation", "eval", "evaluation"))


def create_dataset(
    name: str, root: str | os.PathLike[str] | None = None, split: str = "validation", **others: Any
) -> Any:
    """Return a data set as timm's `create_dataset` does, by the same arguments.

    Where `root` is a packed file, or a folder that has one for the split (`train.pen`, `val.pen`
    and what timm calls them besides), a `penstock.torch.Dataset` of it comes back. All else is
    timm's own.
    """
    packed = None if name else _find_packed(root, split, search=others.get("search_split", True))
    if packed is None:
        if not name and root is not None and not os.path.exists(root):  # timm only asserts it
            raise SourceError(
                f"create_dataset: {os.fspath(root)}: no such file or folder. Check the path."
            )
        return create_timm_dataset(name, root=root, split=split, **others)
    _refuse_what_a_folder_takes(packed, others)
    dataset = Dataset(packed)
    _check_numbering(packed, dataset.classes)
    return dataset


def _find_packed(root: Any, split: str, *, search: bool) -> str | None:
    """Return the packed file that is meant, if one is; a folder of that name goes first."""
    if root is None:
        return None
    path: str = os.fspath(root)
    if path.endswith(_SUFFIX):
        return path
    wanted = split.split("[", maxsplit=1)[0]
    same = next((names for names in _SYNONYMS if wanted in names), ())
    names = (wanted, *same)
    if not search or any(os.path.exists(os.path.join(path, one)) for one in names):
        return None
    files = (os.path.join(path, one + _SUFFIX) for one in names)
    return next((file for file in files if os.path.exists(file)), None)


def _refuse_what_a_folder_takes(packed: str, others: dict[str, Any]) -> None:
    usual = {"class_map": ("", None), "load_bytes": (False,), "input_img_mode": ("RGB", None)}
    for name, values in usual.items():
        if name in others and others[name] not in values:
            raise LoaderError(
                f"create_dataset: {name}={others[name]!r} is for folders, but {packed} is packed. "
                "Leave it out, or pack the images so."
            )


def _check_numbering(packed: str, classes: tuple[str, ...] | None) -> None:
    """Refuse class numbers other than timm's for a folder of these classes.

    timm sorts "class10" after "class2", `pack` before it as torchvision does. A model would learn
    other numbers than its next user expects.
    """
    if classes is None or list(classes) == sorted(classes, key=natural_key):
        return
    wrong = next(
        (ours, theirs)
        for ours, theirs in zip(classes, sorted(classes, key=natural_key), strict=True)
        if ours != theirs
    )
    number = classes.index(wrong[0])
    raise LoaderError(
        f"create_dataset: in {packed}, class {number} is {wrong[0]!r}; timm would number "
        f"{wrong[1]!r} so. If the packed numbers are right for your model, give create_loader "
        f"penstock.torch.Dataset({packed!r}) instead."
    )
