"""Ends of all kinds: break, del, exceptions, Ctrl-C, interpreter exit, fork."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from loading.scripts import run_script
from penstock import Loader
from penstock import transforms as T

TRANSFORM = T.RandomResizedCrop(48)


def penstock_threads(within_s: float = 10.0) -> list[str]:
    """Our Python threads that have not ended by then."""
    left = [t for t in threading.enumerate() if t.name.startswith("penstock-")]
    left = [t for t in left if t.name != "penstock-storage"]  # of the process, not of a loader
    for thread in left:
        thread.join(within_s)
    return [t.name for t in left if t.is_alive()]


def test_leaving_an_epoch_early_stops_its_threads(folder: Path) -> None:
    """`break`, then the loader goes away."""
    loader = Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")
    for _ in loader:
        break
    del loader
    gc.collect()

    assert penstock_threads() == []


def test_a_with_block_closes_the_loader(folder: Path) -> None:
    """Also one that is left by an error."""
    made = Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")
    with pytest.raises(ZeroDivisionError), made as loader:
        next(iter(loader))
        1 / 0  # noqa: B018

    assert penstock_threads() == []


def test_an_exception_in_the_loop_leaves_the_loader_usable(folder: Path) -> None:
    """The next epoch starts as if nothing had happened."""
    loader = Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")
    with pytest.raises(ZeroDivisionError):
        for _ in loader:
            1 / 0  # noqa: B018

    assert sum(len(labels) for _, labels in loader) == 23


def test_close_and_iterate_again(folder: Path) -> None:
    """Closing gives threads back; iterating takes new ones."""
    loader = Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")
    next(iter(loader))
    loader.close()
    assert penstock_threads() == []

    assert sum(len(labels) for _, labels in loader) == 23


@pytest.mark.parametrize("on_error", ["skip", "substitute", "raise"])
def test_closing_after_a_bad_file_ends_all_threads(
    folder: Path, tmp_path: Path, on_error: str
) -> None:
    """The error must not be what keeps the core alive until the garbage collector comes."""
    bad = tmp_path / "bad.png"
    bad.write_text("not an image")
    script = f"""
        import gc, os, time
        gc.disable()
        def threads():
            return len(os.listdir("/proc/self/task"))
        loader = Loader([{str(bad)!r}, *{sorted(map(str, folder.rglob("*.jpg")))!r}],
                        transform=T.Resize((8, 8)), on_error={on_error!r}, output="numpy")
        before = threads()
        try:
            for batch in loader:
                pass
        except OSError as error:
            assert "bad.png" in str(error)
        loader.close()
        end_s = time.monotonic() + 10
        while threads() > before and time.monotonic() < end_s:
            time.sleep(0.001)
        print(threads() - before)
        """
    done = run_script(folder, script)

    assert (done.stdout, done.stderr) == ("0\n", "")


def test_several_loaders_at_once(folder: Path) -> None:
    """Interleaved, each gives what it gives alone."""

    def make(seed: int) -> Loader:
        return Loader(folder, batch_size=3, transform=TRANSFORM, seed=seed, output="numpy")

    alone = [[images.copy() for images, _ in make(seed)] for seed in range(3)]
    for step, together in enumerate(zip(*(make(seed) for seed in range(3)), strict=True)):
        for seed, (images, _) in enumerate(together):
            np.testing.assert_array_equal(images, alone[seed][step])


def test_two_iterators_of_one_loader(folder: Path) -> None:
    """Each runs its own epoch."""
    loader = Loader(folder, batch_size=5, transform=TRANSFORM, output="numpy")
    first, second = iter(loader), iter(loader)

    counts = [0, 0]
    for (_, one), (_, other) in zip(first, second, strict=True):
        counts[0] += len(one)
        counts[1] += len(other)
    assert counts == [23, 23]


def test_interpreter_exit_in_mid_epoch_is_clean(folder: Path) -> None:
    """No hang, no message."""
    done = run_script(folder, "it = iter(loader); next(it)")

    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_is_prompt(folder: Path, tmp_path: Path) -> None:
    """KeyboardInterrupt reaches the loop, and the process ends."""
    script = textwrap.dedent(
        f"""
        import signal
        import time
        from penstock import Loader
        from penstock import transforms as T
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        loader = Loader({str(folder)!r}, transform=T.Compose([lambda i: time.sleep(0.2) or i,
                        T.Resize((8, 8))]), threads=1, output="numpy")
        while True:
            for batch in loader:
                print("batch", flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "batch\n"
    stderr = interrupt(process)

    assert "KeyboardInterrupt" in stderr
    assert process.returncode != 0


def interrupt(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, again if need be: Python itself drops one that falls into a destructor."""
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=10)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    return process.communicate()[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_gets_a_clear_error_and_ends(folder: Path) -> None:
    """Threads do not survive a fork; the child is told so and exits."""
    body = """
    import sys, warnings
    warnings.simplefilter("ignore")
    it = iter(loader)
    next(it)
    child = os.fork()
    if child == 0:
        expect_refusals(lambda: next(it), lambda: iter(loader))
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sum(len(labels) for _, labels in it) == 21
    """
    done = run_script(folder, body)

    assert (done.returncode, done.stderr) == (0, "")
