"""The folder of a search: where it stands, and what its trainings saved.

    search.json                          arguments, the population, and in the end the result
    run-0001/                            each start of the search writes into a folder of its own
        member-003/epoch-0006/           after epoch 6 of training 3; appears under this name whole
            trained.json                 its score, and the ops of all epochs so far
            model/                       what the user's function saved
        tune/                            Ray Tune's own files; nothing is read from them

`search.json` is replaced whole whenever the population has moved, before anybody trains on. So a
process that is killed at any time leaves a population that can go on.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import SearchError
from penstock.ray.explore import History, Ops, as_ops

VERSION = 1
MODEL = "model"
_STATE = "search.json"
_LOCK = "search.lock"
_TRAINED = "trained.json"
_EPOCH = re.compile(r"epoch-(\d+)")

Save = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Member:
    """How a training of the population goes on."""

    ops: Ops
    source: str | None = None  # the saved epoch to go on from; None at the beginning


@dataclass(frozen=True, slots=True)
class Population:
    """Where all trainings are after an epoch at which they waited for each other."""

    epoch: int
    members: tuple[Member, ...]

    def as_listed(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        members = [
            {"source": member.source, "ops": [list(op) for op in member.ops]}
            for member in self.members
        ]
        return {"epoch": self.epoch, "members": members}

    @classmethod
    def from_listed(cls, listed: dict[str, Any]) -> Population:
        """Read what `as_listed` gave."""
        members = (Member(as_ops(m["ops"]), m["source"]) for m in listed["members"])
        return cls(listed["epoch"], tuple(members))


@dataclass(frozen=True, slots=True)
class SavedEpoch:
    """What a training left behind after an epoch."""

    path: Path
    epoch: int
    score: float
    history: History

    @classmethod
    def read(cls, path: Path) -> SavedEpoch:
        """Read a folder of this kind."""
        trained = json.loads((path / _TRAINED).read_text("utf-8"))
        history = History.from_listed(trained["history"])
        return cls(path, trained["epoch"], trained["score"], history)


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """The folder; any process that can reach it may use one of these."""

    root: Path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process search here at the same time."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / _LOCK).open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SearchError(
                    f"search_schedule: another process searches in {self.root}. "
                    "Wait for it, or give another storage."
                ) from None
            yield

    def read_state(self) -> dict[str, Any] | None:
        """Return what `write_state` was given last, or None."""
        try:
            state: dict[str, Any] = json.loads((self.root / _STATE).read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SearchError(f"search_schedule: {self.root / _STATE}: {error}.") from error
        if state.get("version") != VERSION:
            raise SearchError(
                f"search_schedule: {self.root / _STATE} has version {state.get('version')!r}; this "
                f"penstock reads {VERSION}. Go on with the penstock that began it."
            )
        return state

    def read_population(self) -> Population:
        """Return where the search stands, which must have begun."""
        state = self.read_state()
        if state is None:
            raise SearchError(
                f"search_schedule: {self.root / _STATE} is gone, and with it where the search "
                "stood. Begin another one in another storage."
            )
        return Population.from_listed(state["population"])

    def write_state(self, state: dict[str, Any]) -> None:
        """Replace what there was."""
        write_whole(self.root / _STATE, json.dumps({"version": VERSION, **state}))

    def begin_run(self) -> str:
        """Make a folder for this start of the search; return its name."""
        number = 1 + max((int(path.name[4:]) for path in self.root.glob("run-*")), default=0)
        name = f"run-{number:04}"
        (self.root / name).mkdir()
        return name

    def newest(self, member: int, after: int) -> SavedEpoch | None:
        """Return the last epoch that a training saved since all waited for each other."""
        saved = [(epoch, path.parts, path) for epoch, path in self._saved(member) if epoch > after]
        return SavedEpoch.read(max(saved)[2]) if saved else None

    def save(
        self, run: str, member: int, after: int, trained: tuple[int, float, History], save: Save
    ) -> SavedEpoch:
        """Save an epoch, and forget those that this training saved before it, after `after`."""
        epoch, score, history = trained
        place = self.root / run / f"member-{member:03}"
        place.mkdir(exist_ok=True)
        path = place / f"epoch-{epoch:04}"
        with tempfile.TemporaryDirectory(prefix="partial-", dir=place) as scratch:
            whole = Path(scratch) / path.name
            (whole / MODEL).mkdir(parents=True)
            save(whole / MODEL)
            if not any((whole / MODEL).iterdir()):
                raise SearchError(
                    "Trial.report: save() wrote nothing into the folder that it was given. "
                    "Write there all that another training needs to go on."
                )
            told = {"epoch": epoch, "score": score, "history": history.as_listed()}
            (whole / _TRAINED).write_text(json.dumps(told), "utf-8")
            whole.rename(path)
        for older, old_path in self._saved(member):
            if after < older < epoch:
                shutil.rmtree(old_path, ignore_errors=True)
        return SavedEpoch(path, epoch, score, history)

    def forget_all_but(self, population: Population) -> None:
        """Delete the epochs that nobody goes on from."""
        needed = {member.source for member in population.members}
        for number in range(len(population.members)):
            for epoch, path in self._saved(number):
                if epoch <= population.epoch and self.name_of(path) not in needed:
                    shutil.rmtree(path, ignore_errors=True)

    def name_of(self, path: Path) -> str:
        """Return how `search.json` names a saved epoch."""
        return path.relative_to(self.root).as_posix()

    def _saved(self, member: int) -> Iterable[tuple[int, Path]]:
        for path in self.root.glob(f"run-*/member-{member:03}/epoch-*"):
            matched = _EPOCH.fullmatch(path.name)
            if matched is not None:
                yield int(matched[1]), path


def write_whole(path: Path, text: str) -> None:
    """Write a file that is never seen in part, not even after a crash."""
    beside = path.with_name(path.name + ".partial")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
