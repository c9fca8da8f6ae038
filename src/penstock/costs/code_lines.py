"""What each line of a user's code costs per sample; needs line_profiler."""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from penstock.errors import PenstockError

_CALIBRATION_RUNS = 2000
_LIBRARIES = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one line of the user's code costs per sample."""

    file: str
    line: int
    code: str
    runs: float  # per sample
    microseconds: float
    share: float  # of its function


def time_lines(run: Callable[[], int], objects: Iterable[Any]) -> tuple[LineCost, ...]:
    """Call `run`, which returns how many samples it made; return lines of the objects' modules."""
    functions = list(user_functions(objects))
    if not functions:
        raise PenstockError(
            "profile: --lines found no code of yours: every op comes from an installed library. "
            "Leave out --lines; the costs of the ops are exact."
        )
    return time_functions(run, functions)


def time_functions(
    run: Callable[[], int], functions: Iterable[Callable[..., Any]]
) -> tuple[LineCost, ...]:
    """Call `run`, which returns how many samples it made; return the lines of these functions.

    What the profiler itself adds to a line is measured beforehand and taken off.
    """
    line_profiler = _import_line_profiler()
    added_s = _cost_of_watching_a_line(line_profiler)
    profiler = line_profiler.LineProfiler(*functions)
    profiler.enable_by_count()
    try:
        samples = run()
    finally:
        profiler.disable_by_count()
    return tuple(_line_costs(profiler.get_stats(), added_s, samples))


def user_functions(objects: Iterable[Any]) -> Iterator[FunctionType]:
    """Yield all functions of the modules that the objects' code is in, libraries left out."""
    modules: list[ModuleType] = []
    for given in objects:
        module = sys.modules.get(getattr(given, "__module__", None) or type(given).__module__)
        if module is not None and module not in modules and not _is_library(module):
            modules.append(module)
    for module in modules:
        for value in vars(module).values():
            inside = vars(value).values() if inspect.isclass(value) else [value]
            for function in inside:
                if inspect.isfunction(function) and function.__module__ == module.__name__:
                    yield function


def _is_library(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    if file is None:
        return True
    real = os.path.realpath(file)
    own = os.path.dirname(os.path.realpath(sys.modules["penstock"].__file__ or ""))
    return any(real.startswith(folder + os.sep) for folder in {*_LIBRARIES, own})


def _import_line_profiler() -> ModuleType:
    try:
        import line_profiler
    except ImportError as error:
        raise PenstockError(
            "profile: --lines needs line_profiler. Install it: pip install 'penstock[profile]'"
        ) from error
    return line_profiler


def _short_lines(runs: int) -> int:
    number = 0
    for _ in range(runs):
        number = 1
        number = 2
    return number


def _cost_of_watching_a_line(line_profiler: ModuleType) -> float:
    profiler = line_profiler.LineProfiler(_short_lines)
    profiler.enable_by_count()
    try:
        _short_lines(_CALIBRATION_RUNS)
    finally:
        profiler.disable_by_count()
    stats = profiler.get_stats()
    (timings,) = stats.timings.values()
    return float(min(time / hits for _, hits, time in timings if hits > 1) * stats.unit)


def _line_costs(stats: Any, added_s: float, samples: int) -> Iterator[LineCost]:
    for (file, _, _), timings in stats.timings.items():
        taken_s = [max(time * stats.unit - hits * added_s, 0.0) for _, hits, time in timings]
        total_s = sum(taken_s)
        source = _source_lines(file)
        for (line, hits, _), line_s in zip(timings, taken_s, strict=True):
            yield LineCost(
                file=os.path.relpath(file),
                line=line,
                code=source[line - 1].strip() if line <= len(source) else "",
                runs=hits / samples,
                microseconds=line_s / samples * 1e6,
                share=line_s / total_s if total_s else 0.0,
            )


def _source_lines(file: str) -> list[str]:
    with open(file, encoding="utf-8", errors="replace") as lines:
        return lines.read().splitlines()
