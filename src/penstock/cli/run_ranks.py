"""`penstock run` with torchrun: the ranks of a machine put their results together.

Each leaves a file in a folder that all of them know. The last to end finds all files and speaks for
all; should one be killed and never write, the first rank speaks for those that did.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from penstock.printable import safe_console
from penstock.watching.ranks import RankSteps, Together, judge_ranks

if TYPE_CHECKING:
    from rich.table import Table

_PATIENCE_S = 10.0  # of the first rank, for those that do not end
_LOOK_EVERY_S = 0.05
_CLAIM = "told"
Result = dict[str, Any]  # what a rank found, as JSON


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those that torchrun started on this machine."""

    number: int  # among all machines
    local: int
    local_size: int
    size: int
    folder: str


def find_rank(variables: Mapping[str, str], run: str = "") -> Rank | None:
    """Return which process this is; None if there is only one on this machine.

    `run` names the run, where `penstock run` has started torchrun itself.
    """
    names = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE")
    try:
        number, local, local_size, size = (int(variables[name]) for name in names)
    except (KeyError, ValueError):
        return None
    if local_size < 2:
        return None
    # All ranks of a machine are children of the same torchrun.
    parts = (run or f"{os.getppid()}-{variables.get('MASTER_PORT', '')}", _user())
    restart = variables.get("TORCHELASTIC_RESTART_COUNT", "0")
    name = "-".join(["penstock-ranks", *parts, restart])
    return Rank(number, local, local_size, size, os.path.join(tempfile.gettempdir(), name))


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def hand_in(rank: Rank, result: Result) -> Sequence[Result] | None:
    """Leave a result; return those of all ranks if this one is to speak for them.

    Raises OSError where nothing can be left.
    """
    os.makedirs(rank.folder, mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and os.stat(rank.folder).st_uid != os.getuid():
        raise OSError(f"{rank.folder} belongs to somebody else")
    file = os.path.join(rank.folder, f"{rank.local}.json")
    with open(f"{file}.new", "w", encoding="utf-8") as text:
        json.dump(result, text)
    os.replace(f"{file}.new", file)
    until_s = time.monotonic() + (_PATIENCE_S if rank.local == 0 else 0.0)
    while not _all_are_there(rank) and time.monotonic() < until_s:
        time.sleep(_LOOK_EVERY_S)
    is_complete = _all_are_there(rank)
    if (rank.local != 0 and not is_complete) or not _claim(rank):
        if is_complete:  # the first rank could wait no longer, and this is the last
            shutil.rmtree(rank.folder, ignore_errors=True)
        return None
    found = []
    for number in range(rank.local_size):
        with (
            suppress(OSError, ValueError),
            open(os.path.join(rank.folder, f"{number}.json"), encoding="utf-8") as text,
        ):
            found.append(json.load(text))
    if is_complete:
        shutil.rmtree(rank.folder, ignore_errors=True)
    return found


def _all_are_there(rank: Rank) -> bool:
    files = (os.path.join(rank.folder, f"{number}.json") for number in range(rank.local_size))
    return all(map(os.path.exists, files))


def _claim(rank: Rank) -> bool:
    """Be the one that speaks, if no other is."""
    try:
        os.close(os.open(os.path.join(rank.folder, _CLAIM), os.O_CREAT | os.O_EXCL))
    except OSError:
        return False
    return True


def judge_loaders(results: Sequence[Result]) -> list[tuple[Together, list[Result]]]:
    """Return a verdict for each loader, and what each rank saw of it.

    A loader is the same on two ranks if it comes from the same line, in the same order.
    """
    by_place: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        seen: dict[str, int] = {}
        for loader in result["loaders"]:
            where = loader["where"] or ""
            seen[where] = seen.get(where, 0) + 1
            entry = {**loader, "rank": result["rank"]}
            by_place.setdefault((where, seen[where]), []).append(entry)
    return [(judge_ranks([_steps(one) for one in some]), some) for some in by_place.values()]


def _steps(loader: Result) -> RankSteps:
    step = loader["mean_step"]
    return RankSteps(
        loader["rank"],
        step["steps"],
        step["wait_s"],
        step["compute_s"],
        loader["verdict"],
        loader["sentence"],
        loader["later_images_per_s"],
    )


def together_as_dict(results: Sequence[Result]) -> Result:
    """Return what all ranks found, in types that JSON knows."""
    first = results[0]
    return {
        "script": first["script"],
        "arguments": first["arguments"],
        "seconds": max(result["seconds"] for result in results),
        "together": [
            {"where": loaders[0]["where"], **judged.to_dict()}
            for judged, loaders in judge_loaders(results)
        ],
        "ranks": list(results),
    }


def print_together(results: Sequence[Result], rank: Rank, stderr: TextIO) -> None:
    """Print one verdict per loader, with a line for each rank."""
    console = safe_console(file=stderr, highlight=False, markup=False)
    seconds = max(result["seconds"] for result in results)
    console.print(f"\npenstock: {_endings(results)} after {seconds:,.1f} s")
    if len(results) < rank.local_size:
        console.print(f"{rank.local_size - len(results)} of {rank.local_size} ranks said nothing.")
    if rank.size > rank.local_size:
        console.print(f"These are the ranks of this machine, of {rank.size} in all.")
    judged = judge_loaders(results)
    if not judged:
        console.print("They iterated over no DataLoader and no penstock Loader.")
    for number, (found, loaders) in enumerate(judged, start=1):
        console.print(_table(found, loaders))
        where = loaders[0]["where"]
        place = "" if where is None else f", iterated over at {where}"
        rate = "" if found.images_per_s is None else f", {found.images_per_s:,.0f} images/s in all"
        console.print(f"{number}  {loaders[0]['described']}{place}{rate}", soft_wrap=True)
        console.print(f"   {found.verdict}: {found.sentence}", soft_wrap=True)
        shown = next((one for one in loaders if one["rank"] == found.straggler), loaders[0])
        for line in shown["inside_lines"]:
            console.print(f" {line}", soft_wrap=True)
        if shown["next"] is not None:
            console.print(f"   Next: {shown['next']}", soft_wrap=True)


def _endings(results: Sequence[Result]) -> str:
    ends = {result["ending"] for result in results}
    if len(ends) == 1:
        return f"{len(results)} ranks {ends.pop()}"
    return ", ".join(f"rank {result['rank']} {result['ending']}" for result in results)


def _table(found: Together, loaders: Sequence[Result]) -> Table:
    """Return a line for each rank; the straggler has a star."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("rank", "verdict"):
        table.add_column(name)
    for name in ("waited", "images/s", "steps", "ms waited", "ms step"):
        table.add_column(name, justify="right")
    for loader in loaders:
        step, rate = loader["mean_step"], loader["later_images_per_s"]
        star = " *" if loader["rank"] == found.straggler else ""
        table.add_row(
            f"{loader['rank']}{star}",
            loader["verdict"],
            f"{loader['later_waited_share']:.0%}",
            "?" if rate is None else f"{rate:,.0f}",
            f"{loader['steps']:,}",
            f"{step['wait_s'] * 1e3:,.1f}",
            f"{step['compute_s'] * 1e3:,.1f}",
        )
    return table
