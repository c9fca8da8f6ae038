"""Threads: too few to be had, closed by others, shared iterators, forks."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loading.scripts import run_script
from penstock import Loader, LoaderError, PenstockError
from penstock import transforms as T

RunFaulty = Callable[..., str]
TRANSFORM = T.RandomResizedCrop(48)

ATTEMPTS = """
import penstock
from penstock import transforms as T
folder = {folder!r}
loader = penstock.Loader(folder, batch_size=2, transform=T.Resize((8, 8)), threads=8,
                         backend={backend!r}, output="numpy")
before = tasks()
for count in {counts}:
    allow_threads(count)
    try:
        next(iter(loader))
    except penstock.ResourceError as error:
        assert "threads" in str(error) and "threads=" in str(error), error
        assert not left_running(before)
        print(error)
    else:
        print("batch")
        loader.close()
allow_threads(-1)
assert sum(len(labels) for _, labels in loader) == 23
"""


def test_threads_that_cannot_be_started_are_an_error_and_the_next_attempt_works(
    folder: Path, run_faulty: RunFaulty
) -> None:
    """Readers, workers, then the first conductor: whichever is the first that cannot start."""
    counts = [0, 1, 3, 4, 11, 12, 13]
    script = ATTEMPTS.format(folder=str(folder), backend="native", counts=counts)
    told = run_faulty(script).splitlines()
    assert "only 0 of 4 threads could be started" in told[0]
    assert "threads=8" in told[0]
    assert "Resource temporarily unavailable" in told[0]
    assert "only 3 of 4" in told[2]
    assert "only 0 of 8" in told[3]
    assert "only 7 of 8" in told[4]
    assert "No thread could be started" in told[5]
    assert told[6] == "batch"  # one conductor will do


def test_a_library_backend_works_with_the_threads_it_gets(
    folder: Path, run_faulty: RunFaulty
) -> None:
    script = ATTEMPTS.format(folder=str(folder), backend="pillow", counts=[0, 1, 5])
    told = run_faulty(script).splitlines()
    assert "; 4 were asked for" in told[0]
    assert "; 8 were asked for" in told[1]
    assert told[2] == "batch"


def test_packing_works_with_fewer_threads_and_says_if_there_are_none(
    folder: Path, tmp_path: Path, run_faulty: RunFaulty
) -> None:
    script = f"""
    import penstock
    allow_threads(0)
    try:
        penstock.pack({str(folder)!r}, {str(tmp_path / "a.pen")!r}, threads=3)
    except penstock.ResourceError as error:
        print(error)
    allow_threads(1)
    penstock.pack({str(folder)!r}, {str(tmp_path / "b.pen")!r}, threads=3)
    allow_threads(1)
    print(penstock.verify({str(tmp_path / "b.pen")!r}, threads=1).samples)
    """
    refused, packed = run_faulty(script).splitlines()
    assert refused == (
        "No thread could be started (can't start new thread); 3 were asked for. Ask for fewer "
        "(threads=, --threads), or raise the limit on them: ulimit -u, the container's limit on "
        "pids, or memory for their stacks."
    )
    assert packed == "23"


def test_what_only_looks_on_does_without_a_thread(folder: Path, run_faulty: RunFaulty) -> None:
    """A progress bar and the sampler of `watch`."""
    script = f"""
    import penstock, penstock.progress
    from penstock import transforms as T
    loader = penstock.Loader({str(folder)!r}, batch_size=2, transform=T.Resize((8, 8)), threads=2,
                             output="numpy")
    batches = iter(loader)
    next(batches)  # its threads run
    from penstock.watching.sampler import Sampler
    class Looker:
        def look(self, seconds): pass
    looker = Looker()
    allow_threads(0)
    sampler = Sampler(looker.look)
    sampler.stop()
    with penstock.progress.ProgressBar("work", total=3, show=True, quiet_for_s=0) as bar:
        for _ in range(3):
            bar.advance()
    print(bar.done, sum(len(labels) for _, labels in batches))
    allow_threads(-1)
    """
    assert run_faulty(script).splitlines()[-1] == "3 21"


class Gate:
    """A Python step that lets nothing through until it is opened."""

    def __init__(self, free: int = 0) -> None:
        self.entered, self.open = threading.Event(), threading.Event()
        self._free = iter(range(free))  # images that pass anyway

    def __call__(self, image: Any) -> Any:
        if next(self._free, None) is not None:
            return image
        self.entered.set()
        assert self.open.wait(30)
        return image


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_close_while_another_thread_waits_for_a_batch(folder: Path, backend: str) -> None:
    gate = Gate()
    transform = T.Compose([gate, T.Resize((8, 8))])
    loader = Loader(folder, batch_size=2, transform=transform, backend=backend, output="numpy")
    caught: list[BaseException] = []

    def consume() -> None:
        try:
            for _ in loader:
                pass
        except BaseException as error:
            caught.append(error)

    consumer = threading.Thread(target=consume)
    consumer.start()
    assert gate.entered.wait(30)
    closer = threading.Thread(target=loader.close)
    closer.start()
    gate.open.set()
    closer.join(30)
    consumer.join(30)
    assert not closer.is_alive()
    assert not consumer.is_alive()
    assert len(caught) == 1
    assert isinstance(caught[0], LoaderError)
    assert "closed" in str(caught[0])
    assert sum(len(labels) for _, labels in loader) == 23


@pytest.mark.parametrize("delay", range(6))
def test_close_at_any_moment_gives_whole_batches_or_a_clear_error(folder: Path, delay: int) -> None:
    """Each batch that is delivered is the right one."""

    def make() -> Loader:
        return Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")

    expected = [images.copy() for images, _ in make()]
    loader = make()
    started = threading.Event()

    def close() -> None:
        started.wait()
        for _ in range(delay * 200):
            pass
        loader.close()
        loader.close()

    closer = threading.Thread(target=close)
    closer.start()
    got = []
    try:
        for images, _ in loader:
            got.append(images)
            started.set()
    except PenstockError as error:
        assert "closed" in str(error)
    closer.join(30)
    assert len(got) >= 1
    for mine, theirs in zip(got, expected, strict=False):
        np.testing.assert_array_equal(mine, theirs)


def tasks() -> set[str]:
    """This process's threads, of whatever language."""
    return set(os.listdir("/proc/self/task"))


def test_closing_ends_the_threads_of_the_core_too(folder: Path) -> None:
    """Even while somebody keeps an iterator."""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("no /proc to count threads in")
    before = tasks()
    loader = Loader(folder, batch_size=2, transform=TRANSFORM, threads=3, output="numpy")
    batches = iter(loader)
    next(batches)
    assert tasks() - before
    loader.close()
    deadline_s = time.monotonic() + 10  # a joined thread takes a moment to vanish from /proc
    while tasks() - before and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not tasks() - before
    with pytest.raises(LoaderError, match="closed while it was iterated"):
        next(batches)


@pytest.fixture
def _impatient_threads() -> Iterator[None]:
    """Have Python switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_impatient_threads")
def test_two_threads_share_an_iterator(folder: Path) -> None:
    """Each batch goes to exactly one of them, also one that all wait for."""
    gate = Gate(free=1)

    def make() -> Loader:
        transform = T.Compose([gate, TRANSFORM])
        return Loader(folder, batch_size=1, transform=transform, prefetch=0, output="numpy")

    batches = iter(make())
    got = [next(batches)[0].tobytes()]
    failed: list[BaseException] = []

    def consume() -> None:
        try:
            for images, _ in batches:
                got.append(images.tobytes())
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert gate.entered.wait(30)
    time.sleep(0.02)  # not needed by what is tested: it lets all of them wait for the same batch
    gate.open.set()
    for thread in threads:
        thread.join(30)
    assert failed == []
    assert sorted(got) == sorted(images.tobytes() for images, _ in make())


@pytest.mark.usefixtures("_impatient_threads")
def test_two_threads_begin_epochs_of_one_loader(folder: Path) -> None:
    loader = Loader(folder, batch_size=4, transform=TRANSFORM, output="numpy")
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(sum(len(y) for _, y in loader)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert counts == [23] * 4
    assert loader.epoch == 4


def test_a_transform_cannot_close_its_own_loader(folder: Path) -> None:
    loaders: list[Loader] = []

    def close(image: Any) -> Any:
        loaders[0].close()
        return image

    transform = T.Compose([close, T.Resize((8, 8))])
    loaders.append(Loader(folder, batch_size=2, transform=transform, output="numpy"))
    with pytest.raises(PenstockError, match="wait for itself"):
        next(iter(loaders[0]))
    loaders[0].close()


def test_a_batch_is_not_asked_for_while_it_is_awaited(folder: Path) -> None:
    """As a signal handler or a finaliser could."""
    loader = Loader(folder, batch_size=2, transform=TRANSFORM, output="numpy")
    batches = iter(loader)
    original = loader._course.delivery.deliver

    def again(batch: Any) -> Any:
        next(batches)
        return original(batch)

    loader._course.delivery = type("Again", (), {"deliver": staticmethod(again)})()
    with pytest.raises(LoaderError, match="the same thread waits"):
        next(batches)


ENDS = {
    "the interpreter exits while a daemon thread iterates": """
        started = threading.Event()
        def consume():
            for _ in loader:
                started.set()
        threading.Thread(target=consume, daemon=True).start()
        started.wait()
    """,
    "the main thread ends while another iterates": """
        started, ended = threading.Event(), threading.Event()
        threading._register_atexit(ended.set)  # run before pools are ended; joins come later
        def consume():
            batches = iter(loader)
            next(batches)
            started.set()
            ended.wait()
            while threading.main_thread().is_alive():
                pass
            try:
                for _ in iter(lambda: next(batches), None):
                    pass
            except PenstockError as error:
                assert "The main thread has ended" in str(error), error
            else:
                print("no error")
        threading.Thread(target=consume).start()
        started.wait()
    """,
    "the main thread ends when all batches have begun": """
        loader = Loader(folder, batch_size=2, prefetch=1000, output="numpy",
                        transform=T.RandomResizedCrop(48))
        started, ended = threading.Event(), threading.Event()
        threading._register_atexit(ended.set)
        def consume():
            batches = iter(loader)
            count = len(next(batches)[0])
            started.set()
            ended.wait()
            while threading.main_thread().is_alive():
                pass
            count += sum(len(images) for images, _ in batches)
            assert count == len(loader.dataset), count
        threading.Thread(target=consume).start()
        started.wait()
    """,
    "closed at exit": """
        import atexit
        atexit.register(loader.close)
        batches = iter(loader)
        next(batches)
    """,
    "closed in a finally": """
        try:
            for _ in loader:
                raise SystemExit(0)
        finally:
            loader.close()
    """,
    "collected while another thread waits": """
        import gc
        batches = iter(loader)
        waiter = threading.Thread(target=lambda: next(batches))
        waiter.start()
        del loader
        gc.collect()
        waiter.join()
    """,
    "forked while another thread has its turn": """
        import warnings
        warnings.simplefilter("ignore")
        entered, leave = threading.Event(), threading.Event()
        def wait(image):
            entered.set()
            leave.wait()
            return image
        loader = Loader(folder, transform=T.Compose([wait, T.Resize((8, 8))]), output="numpy")
        batches = iter(loader)
        waiter = threading.Thread(target=lambda: next(batches))
        waiter.start()
        entered.wait()
        child = os.fork()
        if child == 0:
            expect_refusals(lambda: next(batches), lambda: iter(loader))
            loader.close()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        leave.set()
        waiter.join()
    """,
}


@pytest.mark.parametrize("end", ENDS)
def test_ends_are_clean(folder: Path, end: str) -> None:
    """No hang, no message."""
    done = run_script(folder, ENDS[end])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
