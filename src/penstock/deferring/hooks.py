"""How others come to ask us: wrappers in the places of functions that open images.

Wrappers do what they wrap, unless this thread is asking a Dataset (`deferring`), or is given an
image, array or tensor of ours. So they stay once they are there; but for those of torch and NumPy,
whose functions others know by what they are: compilers, and the default device of torch. Wrappers
of these are there only while a Dataset is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from penstock.deferring.array_functions import wrap_numpy
from penstock.deferring.counts import Replaced, replace_while_deferring
from penstock.deferring.image import DeferredImage
from penstock.deferring.pillow_hooks import wrap_pillow
from penstock.deferring.torch_hooks import wrap_torch

Function = Callable[..., Any]

_done: set[str] = set()


def install() -> None:
    """Put the wrappers in their places, for all libraries that are imported by now."""
    once("PIL", wrap_pillow)
    if "torch and NumPy" not in _done:
        _done.add("torch and NumPy")
        # numba compiles calls of NumPy's functions, and would not know the wrappers.
        wrappers = wrap_torch() if "numba" in sys.modules else {**wrap_torch(), **wrap_numpy()}
        replace_while_deferring(list(places_of(wrappers)))
    if "cv2" in sys.modules:
        from penstock.deferring.opencv_hooks import wrap_opencv

        once("cv2", wrap_opencv)
        if "albucore" in sys.modules:
            from penstock.deferring.albumentations_hooks import wrap_albumentations

            once("albucore", wrap_albumentations)
    if "torchvision" in sys.modules:
        from penstock.deferring.torchvision_hooks import wrap_torchvision

        once("torchvision", wrap_torchvision)


def once(name: str, wrap: Callable[[], dict[Function, Function]]) -> None:
    """Replace functions of a library, unless that was done before."""
    if name in _done:
        return
    _done.add(name)
    replace_everywhere(wrap())


def replace_everywhere(wrappers: dict[Function, Function]) -> None:
    """Put wrappers in the places of functions, also where modules have imported them by name."""
    for place in places_of(wrappers):
        place.put()


def places_of(wrappers: dict[Function, Function]) -> Iterator[Replaced]:
    """All names of functions in modules, and what is to be there instead."""
    known = {id(original): wrapper for original, wrapper in wrappers.items()}
    for name, module in list(sys.modules.items()):
        if name.startswith(("penstock.", "numpy.")):
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            wrapper = known.get(id(value))
            if wrapper is not None:
                yield Replaced(module, attribute, value, wrapper)


def is_ours(image: Any) -> bool:
    """Whether an image is one of ours; for wrappers, which are asked about everything."""
    return type(image) is DeferredImage
