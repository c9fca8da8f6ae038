"""How many instructions the hot paths take: `python -m benchmarks.instructions`, or `make guard`.

Time varies on a busy machine; the number of instructions that an input takes hardly does. So they
are counted, by callgrind, and compared with the last counts in results/instructions.json. More than
LIMIT above those is a failure.

Counts depend on the compiler and on libraries: only those made with the same ones are compared.
They are not times: a change that waits less for memory shows elsewhere. And valgrind does not know
AVX-512, so AVX2 and scalar code stand for it.

`--write "what was changed"` adds the counts to the history, and makes results/instructions.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.dataset import CHECKOUT
from benchmarks.table import NOT_KNOWN, aligned
from penstock._core import supported_isas

PROGRAM = CHECKOUT / "build" / "extension" / "cpp" / "guard" / "penstock_guard"
PROFILES = CHECKOUT / "build" / "guard"
HISTORY = CHECKOUT / "benchmarks" / "results" / "instructions.json"
PAGE = HISTORY.with_suffix(".md")
SETS = ("avx2", "scalar")
LIMIT = 0.05  # counts are equal from run to run, so less than the 10 % that must not pass
LATEST = 6  # entries of the history that the page has a column for
TRIGGER = re.compile(r"^desc: Trigger: Client Request: (.+)$", re.MULTILINE)
TOTAL = re.compile(r"^summary: (\d+)$", re.MULTILINE)

Counts = dict[str, dict[str, int]]  # by instruction set, then by case


class GuardError(Exception):
    """Instructions could not be counted."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The counts at some point of the history."""

    date: str
    after: str  # the commit that it was measured on top of
    change: str
    tools: dict[str, str]  # the compiler and others that counts depend on, with their versions
    counts: Counts


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case, counted now and before; 0 where it was not counted."""

    isa: str
    case: str
    before: int
    now: int

    @property
    def growth(self) -> float:
        """How much larger it is now, as a share of what it was."""
        return self.now / self.before - 1


# ---- counting ------------------------------------------------------------------------------------


def count_instructions(isas: Sequence[str]) -> tuple[dict[str, str], Counts]:
    """Run the program once for each instruction set; return its tools and its counts."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise GuardError("valgrind is not there. Install it with: scripts/system_packages.sh guard")
    if not PROGRAM.exists():
        raise GuardError(f"{PROGRAM} was not built. Run: make guard")
    said = subprocess.run([valgrind, "--version"], capture_output=True, text=True, check=True)
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda isa: _run(valgrind, isa), isas))
    version = said.stdout.strip().removeprefix("valgrind-")
    tools = dict(line.split("\t") for line in runs[0].splitlines())
    return tools | {"valgrind": version}, {isa: read_profiles(PROFILES / isa) for isa in isas}


def _run(valgrind: str, isa: str) -> str:
    """Count with one instruction set; return what the program says."""
    folder = PROFILES / isa
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done = subprocess.run(
        (
            *(valgrind, "--tool=callgrind", "--quiet"),
            *(f"--callgrind-out-file={folder / 'profile'}", PROGRAM),
        ),
        # Nothing else of the environment: where the stack begins depends on its size.
        env={"PATH": os.defpath, "PENSTOCK_SIMD": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise GuardError(f"{PROGRAM.name} failed with {isa}: {done.stderr.strip()}")
    return done.stdout


def read_profiles(folder: Path) -> dict[str, int]:
    """Return the counts in a folder of callgrind's files, which are numbered as cases ran."""
    found = {}
    for number, path in _profiles(folder):
        text = path.read_text("utf-8")
        case, total = TRIGGER.search(text), TOTAL.search(text)
        if case is None:
            continue  # what is left when the program ends
        if total is None or int(total[1]) == 0:
            raise GuardError(f"{path}: part {number} ({case[1]}) has no instructions in it.")
        found[case[1]] = int(total[1])
    if not found:
        raise GuardError(f"{folder}: callgrind left no counts there.")
    return found


def _profiles(folder: Path) -> list[tuple[int, Path]]:
    return sorted((int(path.suffix[1:]), path) for path in folder.glob("profile.*"))


# ---- comparing -----------------------------------------------------------------------------------


def last_with(history: Sequence[Entry], tools: Mapping[str, str]) -> Entry | None:
    """Return the newest entry that was made with these tools."""
    return next((entry for entry in reversed(history) if entry.tools == tools), None)


def compare(before: Counts, now: Counts) -> list[Comparison]:
    """Put the counts of each case side by side, also those that only one of them has."""
    return [
        Comparison(isa, case, before.get(isa, {}).get(case, 0), counts.get(case, 0))
        for isa, counts in now.items()
        for case in counts | before.get(isa, {})
    ]


def judge(compared: Sequence[Comparison]) -> tuple[list[str], list[str]]:
    """Return what must not be, and what else to say."""
    bad, remarks = [], []
    for one in compared:
        name = f"{one.case} ({one.isa})"
        if not one.now:
            bad.append(f"{name} is no longer counted. If that is meant, write it down.")
        elif not one.before:
            remarks.append(f"{name} is new: not compared. Write it down to guard it.")
        elif one.growth > LIMIT:
            bad.append(
                f"{name} takes {one.growth:+.1%} instructions: {one.now:,} instead of "
                f"{one.before:,}. Where: callgrind_annotate --threshold=100 {_profile_of(one)}"
            )
        elif one.growth < -LIMIT:
            remarks.append(f"{name} takes {one.growth:+.1%}. Write it down to keep the gain.")
    return bad, remarks


def _profile_of(one: Comparison) -> str:
    """Name the file with the functions of a case."""
    for _, path in _profiles(PROFILES / one.isa):
        if f"desc: Trigger: Client Request: {one.case}\n" in path.read_text("utf-8"):
            return str(path.relative_to(CHECKOUT))
    return str((PROFILES / one.isa).relative_to(CHECKOUT))


# ---- the history ---------------------------------------------------------------------------------


def read_history(path: Path) -> list[Entry]:
    """Return all entries, the oldest first."""
    if not path.exists():
        return []
    return [Entry(**entry) for entry in json.loads(path.read_text("utf-8"))]


def page_of(history: Sequence[Entry]) -> str:
    """Return the history as Markdown: the newest entry, those before it, and what each changed."""
    newest = history[-1]
    shown = [entry for entry in history if entry.tools == newest.tools][-LATEST:]
    named = ", ".join(f"{name} {version}" for name, version in newest.tools.items())
    lines = [
        "# Instructions of the hot paths",
        "",
        "Thousands of instructions for one run of each case of `cpp/guard`, counted by callgrind.",
        f"`make guard` fails where one has grown by more than {LIMIT:.0%}.",
        "They are no times: code that waits for memory takes longer than its count says.",
        "Valgrind does not know AVX-512, so only AVX2 and scalar code are counted.",
        "",
        f"- {named}",
        f"- the newest {len(shown)} entries with these tools; instructions.json has all",
    ]
    for isa in newest.counts:
        rows = [("case", *(f"{entry.date} {entry.after}" for entry in shown))]
        rows += [
            (case, *(_thousands(entry.counts.get(isa, {}).get(case)) for entry in shown))
            for case in newest.counts[isa]
        ]
        lines += ["", f"## {isa}", "", *aligned(rows)]
    lines += ["", "## What changed", "", "Each was counted on top of the commit that it names.", ""]
    lines += [f"- {entry.date}, {entry.after}: {entry.change}" for entry in reversed(history)]
    lines += ["", "Made by `make guard ARGS='--write \"what was changed\"'`.", ""]
    return "\n".join(lines)


def _thousands(count: int | None) -> str:
    return NOT_KNOWN if count is None else f"{count / 1e3:,.1f}"


def _last_commit() -> str:
    said = subprocess.run(
        [shutil.which("git") or "git", "rev-parse", "--short=8", "HEAD"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.strip()


# ---- the command ---------------------------------------------------------------------------------


def table_of(compared: Sequence[Comparison]) -> list[str]:
    """Lay out the counts of all cases."""
    rows = [("case", "set", "before", "now", "change")]
    rows += [
        (
            one.case,
            one.isa,
            f"{one.before:,}" if one.before else NOT_KNOWN,
            f"{one.now:,}" if one.now else NOT_KNOWN,
            f"{one.growth:+.2%}" if one.before and one.now else NOT_KNOWN,
        )
        for one in compared
    ]
    return aligned(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, compare, and write down what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description="Counts the instructions of the hot paths and compares them with the last.",
    )
    parser.add_argument("--write", metavar="CHANGE", help="add an entry that says what was changed")
    args = parser.parse_args(arguments)
    isas = [isa for isa in SETS if isa in supported_isas()]
    try:
        tools, now = count_instructions(isas)
    except GuardError as error:
        print(f"benchmarks.instructions: {error}", file=sys.stderr)
        return 2

    history = read_history(HISTORY)
    before = last_with(history, tools)
    compared = compare(before.counts if before else {}, now)
    named = ", ".join(f"{name} {version}" for name, version in tools.items())
    print(f"Counted with {named}.", *table_of(compared), sep="\n")
    for isa in set(SETS) - set(isas):
        print(f"NOT COUNTED: this CPU has no {isa}.")
    if args.write:
        today = datetime.now(timezone.utc).date().isoformat()
        history.append(Entry(today, _last_commit(), args.write, tools, now))
        HISTORY.write_text(json.dumps([asdict(entry) for entry in history], indent=1) + "\n")
        PAGE.write_text(page_of(history), "utf-8")
        print(f"Written to {HISTORY.relative_to(CHECKOUT)} and {PAGE.name}.")
        return 0
    if before is None:
        print(f"NOT COMPARED: {HISTORY.name} has no counts that were made with the same tools.")
        return 0
    bad, remarks = judge(compared)
    for line in (*remarks, *bad):
        print(line)
    if bad:
        print("If that has to be: make guard ARGS='--write \"why\"', and commit what it writes.")
        return 1
    print(f"No case has grown by more than {LIMIT:.0%} since {before.date} ({before.after}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
