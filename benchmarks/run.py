"""A run of several cases, kept in a file from case to case, so that it can be resumed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.answer import Answer
from benchmarks.dataset import CHECKOUT

BUILD = CHECKOUT / "build"
STATE = BUILD / "bench_run.json"
RESUME = "--resume"


class CannotResumeError(RuntimeError):
    """There is no run to go on with, or it was another one."""


@dataclass(slots=True)
class Run:
    """What a command has measured so far."""

    command: str
    state: Path
    answers: list[Answer] = field(default_factory=list)

    @classmethod
    def begun(cls, words: Sequence[str], state: Path | None = None) -> Run:
        """Return a new run, which takes the place of the last one."""
        run = cls(command_of(words), state or STATE)
        run.state.parent.mkdir(parents=True, exist_ok=True)
        run.write(run.state)
        return run

    @classmethod
    def resumed(cls, words: Sequence[str], state: Path | None = None) -> Run:
        """Return the last run with its answers, if it was asked for the same."""
        state = state or STATE
        if not state.exists():
            raise CannotResumeError(f"{state}: there is no run to go on with. Leave out {RESUME}.")
        told = json.loads(state.read_text(encoding="utf-8"))
        if told["command"] != command_of(words):
            raise CannotResumeError(
                f"the last run was `{told['command']}`, not `{command_of(words)}`. "
                f"Give the same options beside {RESUME}, or leave it out."
            )
        answers = [Answer.from_dict(one) for one in told["cases"]]
        return cls(told["command"], state, answers)

    def add(self, answer: Answer) -> None:
        """Keep an answer."""
        self.answers.append(replace(answer, command=self.command))
        self.write(self.state)

    def write(self, target: Path) -> None:
        """Write every figure to a file, which is never half written."""
        figures = {"command": self.command, "cases": [asdict(answer) for answer in self.answers]}
        unfinished = target.with_name(f".{target.name}.unfinished")
        unfinished.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(target)


def command_of(words: Sequence[str]) -> str:
    """Return the command that makes the figures, whether or not it is resumed."""
    return " ".join(["penstock bench", *(word for word in words if word != RESUME)])
