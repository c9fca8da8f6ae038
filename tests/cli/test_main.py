"""The command line's manners: instant help, clear errors, exit codes."""

import argparse
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from penstock._version import __version__
from penstock.cli import main as command
from penstock.cli.main import main
from penstock.errors import SourceError

NO_FOLDER = "train: no such folder. Check the path."


@pytest.fixture
def demo_does(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Return a function that replaces what `penstock demo` does."""

    def replace_demo(action: Callable[[], int]) -> None:
        def run(args: argparse.Namespace) -> int:
            del args
            return action()

        verbs = [replace(verb, run=run) if verb.name == "demo" else verb for verb in command.VERBS]
        monkeypatch.setattr(command, "VERBS", verbs)

    return replace_demo


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from penstock.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'torchvision', 'rich', 'numpy', 'PIL'}\n"
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["--version"])
    assert exited.value.code == 0
    assert capsys.readouterr().out == f"penstock {__version__}\n"


def test_no_verb_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: penstock" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "-3", "many", "1.5"])
def test_counts_are_checked(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["demo", "--images", count])
    assert exited.value.code == 2
    assert f"must be a whole number of 1 or more, got '{count}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (SourceError(NO_FOLDER), 2, NO_FOLDER),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_that_are_no_fault_of_ours_are_one_line(
    error: BaseException,
    code: int,
    told: str,
    demo_does: Callable[[Callable[[], int]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        raise error

    demo_does(fail)
    assert main(["demo"]) == code
    assert capsys.readouterr().err == f"penstock: {told}\n"


def test_ctrl_c_that_a_library_takes_for_a_failed_import(
    demo_does: Callable[[Callable[[], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """As NumPy does, if it comes while its C code is imported."""

    def interrupt() -> int:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise ImportError("could not import datetime")

    def lack() -> int:
        raise ImportError("No module named 'vl_convert'")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        demo_does(interrupt)
        assert main(["demo"]) == 130
        assert capsys.readouterr().err == "penstock: interrupted\n"
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        demo_does(lack)
        with pytest.raises(ImportError, match="vl_convert"):
            main(["demo"])
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_verbs_exit_code_is_ours(demo_does: Callable[[Callable[[], int]], None]) -> None:
    demo_does(lambda: 1)
    assert main(["demo"]) == 1


def test_a_folder_with_other_files_is_refused(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").touch()  # type: ignore[attr-defined]
    assert main(["demo", "--folder", str(tmp_path)]) == 2
    assert "not empty, and not a sample set" in capsys.readouterr().err


def test_a_reader_that_left_is_no_error() -> None:
    """As in `penstock demo --json | head -0`."""
    script = (
        "import sys\n"
        "from dataclasses import replace\n"
        "from penstock.cli import main\n"
        "main.VERBS = [replace(main.VERBS[0], run=lambda args: print('x' * 10_000_000) or 0)]\n"
        "sys.exit(main.main([main.VERBS[0].name]))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
