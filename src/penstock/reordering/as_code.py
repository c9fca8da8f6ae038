"""A list of ops as Python source, ready to paste.

How torchvision's ops print is not always what one would write. So the arguments are read from each
op, in the shortest spelling from which its class makes an equal op: that is tried, not assumed. An
op for which this does not succeed, and each object of the user's own, is written `your[number]`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from penstock.printable import printable
from penstock.reordering.steps import Step
from penstock.translation.transforms.identify import (
    class_name,
    describe,
    imported,
    torchvision_generation,
)

_INTERPOLATIONS = "torchvision.transforms"
_IMPORTS = {
    1: "from torchvision import transforms",
    2: "from torchvision.transforms import v2",
}
_MODULES = {1: "transforms", 2: "v2"}
_CONTAINERS = {"RandomApply", "RandomChoice", "RandomOrder"}
_DIGITS = 9  # to which 1.4 - 1 is 0.4


def as_code(steps: Sequence[Step], generation: int) -> str:
    """Return the source of a Compose of these ops, with the imports that it needs."""
    lines: list[str] = []
    used = {generation}
    for step in steps:
        code = op_code(step.op)
        if code is None:
            lines.append(f"    your[{step.number}],  # your object: {printable(describe(step.op))}")
        else:
            lines.append(f"    {code},")
            used.add(torchvision_generation(step.op) or generation)
    head = [_IMPORTS[one] for one in sorted(used)]
    if any("torch." in line.replace("torchvision.", "") for line in lines):
        head.insert(0, "import torch")
    if any(line.startswith("    your[") for line in lines):
        head.append("# your: the ops of your list as it is now, counted from 0")
    return "\n".join([*head, "", f"{_MODULES[generation]}.Compose([", *lines, "])"])


def op_code(op: Any) -> str | None:
    """Return an expression that makes an equal op; None if that is not possible."""
    generation = torchvision_generation(op)
    if generation is None:
        return None
    name = f"{_MODULES[generation]}.{class_name(op)}"
    if class_name(op) in {*_CONTAINERS, "Compose"}:
        return _container_code(op, name)
    given = _arguments(op)
    if given is None:
        return None
    values = {key: _value_code(value, generation) for key, value in given.items()}
    if None in values.values():
        return None
    needed = _needed(type(op))  # a single argument that is needed is clear without its name
    words = [str(code) if [key] == needed else f"{key}={code}" for key, code in values.items()]
    return f"{name}({', '.join(words)})"


def _container_code(op: Any, name: str) -> str | None:
    inner = [op_code(one) for one in op.transforms]
    if None in inner:
        return None
    p = getattr(op, "p", None)
    is_even = isinstance(p, (list, tuple)) and len(set(p)) == 1
    chance = "" if p is None or is_even else f", p={p!r}"
    return f"{name}([{', '.join(map(str, inner))}]{chance})"


def _arguments(op: Any) -> dict[str, Any] | None:
    """Return the arguments that differ from what their class takes by itself."""
    parameters = _parameters(type(op))
    if any(not hasattr(op, name) for name in parameters):
        return None
    given = {name: getattr(op, name) for name in parameters}
    # Some keep None for a number that stands for "not at all", and refuse it.
    given = given if _makes(op, given) else {name: value for name, value in given.items() if value}
    for name in list(given):
        rest = {key: value for key, value in given.items() if key != name}
        if _makes(op, rest):
            given = rest
            continue
        for shorter in _shorter(name, given[name]):
            if _makes(op, given | {name: shorter}):
                given[name] = shorter
                break
    return given if _makes(op, given) else None


def _parameters(kind: type) -> Mapping[str, inspect.Parameter]:
    found = dict(inspect.signature(kind).parameters)
    return {
        name: one
        for name, one in found.items()
        if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
    }


def _needed(kind: type) -> list[str]:
    return [name for name, one in _parameters(kind).items() if one.default is one.empty]


def _makes(op: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether these arguments make an op that equals this one in all that it keeps."""
    make: Callable[..., Any] = type(op)
    try:
        with warnings.catch_warnings():  # of classes that are to be removed some day
            warnings.simplefilter("ignore")
            made = make(**arguments)
    except Exception:  # noqa: BLE001 (whatever a class raises on arguments that it does not take)
        return False
    return repr(_kept(made)) == repr(_kept(op))


def _kept(op: Any) -> dict[str, Any]:
    return {name: value for name, value in sorted(vars(op).items()) if name != "training"}


def _shorter(name: str, value: Any) -> Iterator[Any]:
    """Yield what a user may have written for a value that the op has spelled out."""
    if name == "interpolation" and isinstance(value, str):
        module = imported(_INTERPOLATIONS)
        yield from (mode for mode in module.InterpolationMode if mode.value == value)
    if not isinstance(value, (list, tuple)) or not value:
        return
    if len(set(map(repr, value))) == 1:  # (224, 224), [256], [4, 4, 4, 4]
        yield value[0]
    if name == "padding" and len(value) == 4:  # some keep left, right, top, bottom
        left, right, top, bottom = value
        yield from ((left, top), (left, top, right, bottom))
    numbers = [one for one in value if isinstance(one, (int, float))]
    if len(numbers) == len(value) == 2:
        for middle in (0, 1):  # a range about 0 or 1
            reach = round(numbers[1] - middle, _DIGITS)
            yield int(reach) if reach == int(reach) else reach
            yield reach
    yield tuple(value)


def _value_code(value: Any, generation: int) -> str | None:
    if isinstance(value, Enum):
        return f"{_MODULES[generation]}.{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        inner = [_value_code(one, generation) for one in value]
        if None in inner:
            return None
        joined = ", ".join(map(str, inner))
        if isinstance(value, list):
            return f"[{joined}]"
        return f"({joined},)" if len(value) == 1 else f"({joined})"
    text = repr(value)
    return text if text.startswith("torch.") and type(value).__name__ == "dtype" else None
