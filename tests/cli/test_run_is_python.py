"""`penstock run` is `python`: the same exit code or signal, the same stdout, the same stderr.

Ours is only what comes last on stderr.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.run_cases import endings, names, output, python_itself, text, together
from cli.run_cases.case import Case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and /proc are Linux's")

TOPICS = (endings, names, text, python_itself, output, together)
CASES = {
    f"{topic.__name__.rpartition('.')[2]}: {name}": case if isinstance(case, Case) else Case(case)
    for topic in TOPICS
    for name, case in topic.CASES.items()
}
# Taken now: pytest changes it for every test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
REPORT = b"\npenstock: the script "
# What differs from one run of python to the next: addresses, and the time that unittest took.
CHANGING = re.compile(rb"0x[0-9a-f]{6,}|(?<=object address  : )\S+|(?<= in )\d+\.\d+(?=s\n)")


@dataclass(frozen=True)
class Done:
    """What came of a script; a negative code is a signal."""

    code: int
    stdout: bytes
    stderr: bytes


Pairs = dict[str, Future[tuple[Done, Done]]]


@pytest.fixture(scope="module")
def pairs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pairs]:
    """Start all scripts that were asked for, a few at a time: with python and with penstock."""
    items = [item for item in request.session.items if item.path == request.path]
    asked = [item.callspec.params["name"] for item in items if hasattr(item, "callspec")]
    penstock = tmp_path_factory.mktemp("bin") / "penstock"
    penstock.write_text("import sys\nfrom penstock.cli.main import main\nsys.exit(main())\n")
    # Scripts inherit it where Ctrl-C is ignored, as shells do for jobs in the background.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {
            name: pool.submit(run_both, CASES[name], tmp_path_factory.mktemp("script"), penstock)
            for name in asked
        }
    signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("name", CASES)
def test_the_script_does_the_same(name: str, pairs: Pairs) -> None:
    case = CASES[name]
    if case.needs and find_spec(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed")
    if sys.version_info < case.python:
        pytest.skip(f"a line of ours is in the traceback before Python {case.python}")
    python, ours = pairs[name].result()

    assert ours.stderr.partition(REPORT)[0] == python.stderr
    assert ours.stdout == python.stdout
    assert ours.code == python.code


def run_both(case: Case, folder: Path, penstock: Path) -> tuple[Done, Done]:
    """Run a script with python and with penstock, in the same folder."""
    case.write(folder)
    python = [sys.executable, *case.options]
    return (
        run(case, folder, [*python, *case.start]),
        run(case, folder, [*python, str(penstock), "run", *case.start]),
    )


def run(case: Case, folder: Path, arguments: list[str]) -> Done:
    """Run one command, and wait for its end."""
    variables = ENVIRONMENT | case.environment
    environment = {name: value for name, value in variables.items() if name not in case.without}
    process = subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=_stdout(case.stdout),
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    out, error = process.communicate(case.stdin.encode(), timeout=120)
    return Done(process.returncode, CHANGING.sub(b"?", out or b""), CHANGING.sub(b"?", error))


def _stdout(kind: str) -> int:
    if kind == "full":
        return os.open("/dev/full", os.O_WRONLY)
    if kind == "no reader":
        reader, writer = os.pipe()
        os.close(reader)
        return writer
    return subprocess.PIPE
