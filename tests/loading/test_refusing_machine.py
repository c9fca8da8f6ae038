"""Where the machine fails, no sample is blamed: not skipped, not replaced, not called damaged."""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest

import penstock
from penstock import DecodeError, Loader, ResourceError, resources
from penstock import transforms as T
from penstock.resources import raise_if_refused

RunFaulty = Callable[..., str]

LOAD = """
import penstock
from penstock import transforms as T
folder = {folder!r}
def load(on_error, backend):
    loader = penstock.Loader(folder, batch_size=4, transform=T.Resize((8, 8)), threads=2,
                             on_error=on_error, backend=backend, output="numpy")
    try:
        delivered = sum(len(labels) for _, labels in loader)
    except penstock.ResourceError as error:
        assert len(loader.ledger) == 0, loader.ledger
        return str(error)
    return f"delivered {{delivered}}, {{loader.ledger}}"
"""


@pytest.mark.parametrize("backend", ["native", "pillow"])
@pytest.mark.parametrize("on_error", ["raise", "skip", "substitute"])
def test_a_failing_disk_or_mount_is_not_a_bad_image(
    folder: Path, run_faulty: RunFaulty, on_error: str, backend: str
) -> None:
    script = (
        LOAD.format(folder=str(folder))
        + f"""
for code in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT):
    fail("class_1/001.jpg", opening=code)
    told = load({on_error!r}, {backend!r})
    assert "class_1/001.jpg" in told and os.strerror(code) in told, told
    assert "failure of the machine" in told, told
for code in (errno.EIO, errno.ESTALE, errno.ENOMEM):
    fail("class_1/001.jpg", reading=code)
    told = load({on_error!r}, {backend!r})
    assert "class_1/001.jpg" in told and os.strerror(code) in told, told
fail("")
print(load({on_error!r}, {backend!r}))
"""
    )
    assert run_faulty(script).startswith("delivered 23")


def test_what_the_file_itself_lacks_is_still_skipped(folder: Path, run_faulty: RunFaulty) -> None:
    """A missing file, or one without permission."""
    script = (
        LOAD.format(folder=str(folder))
        + """
for code in (errno.ENOENT, errno.EACCES, errno.ELOOP):
    fail("class_1/001.jpg", opening=code)
    print(load("skip", "native"))
"""
    )
    told = run_faulty(script).splitlines()
    assert [line.split(",")[0] for line in told] == ["delivered 22"] * 3


def test_too_many_open_files(folder: Path) -> None:
    """The real thing, in this process."""
    loader = Loader(folder, batch_size=4, transform=T.Resize((8, 8)), on_error="skip")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    next(iter(loader))
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), before[1]))
    # The lowest descriptors may have holes, which are still to be had.
    holes = []
    try:
        while True:
            try:
                holes.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        with pytest.raises(ResourceError, match=r"Too many open files.*ulimit -n"):
            for _ in loader:
                pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for hole in holes:
            os.close(hole)
    assert len(loader.ledger) == 0
    assert sum(len(labels) for _, labels in loader) == 23


def test_packing_does_not_leave_out_what_the_machine_failed_to_read(
    folder: Path, tmp_path: Path, run_faulty: RunFaulty
) -> None:
    script = f"""
import penstock
for call in ("opening", "reading"):
    fail("class_1/001.jpg", **{{call: errno.EIO}})
    try:
        penstock.pack({str(folder)!r}, {str(tmp_path)!r} + f"/{{call}}.pen", on_error="skip")
    except penstock.ResourceError as error:
        print(error)
fail("")
penstock.pack({str(folder)!r}, {str(tmp_path)!r} + "/whole.pen")
fail("whole.pen", opening=errno.EMFILE)
try:
    penstock.verify({str(tmp_path)!r} + "/whole.pen")
except penstock.ResourceError as error:
    print(error)
"""
    first, second, third = run_faulty(script).splitlines()
    assert first.startswith("class_1/001.jpg: it cannot be read (Input/output error)")
    assert second == first
    assert "whole.pen" in third
    assert "Too many open files" in third


def test_a_folder_that_cannot_be_listed_is_not_left_out(
    folder: Path, run_faulty: RunFaulty
) -> None:
    script = f"""
import penstock
fail("class_1", opening=errno.EMFILE)
try:
    penstock.open_image_folder({str(folder)!r}, refresh=True)
except penstock.ResourceError as error:
    print(error)
"""
    told = run_faulty(script)
    assert "class_1: it cannot be read (Too many open files)" in told
    assert "ulimit -n" in told


def test_a_mask_that_the_machine_failed_to_read_is_not_a_bad_mask(
    tmp_path: Path, run_faulty: RunFaulty
) -> None:
    for kind, mode in (("images", "RGB"), ("masks", "L")):
        (tmp_path / kind).mkdir()
        for index in range(3):
            PIL.Image.new(mode, (8, 8)).save(tmp_path / kind / f"{index}.png")
    script = f"""
import penstock
loader = penstock.Loader({str(tmp_path / "images")!r}, masks={str(tmp_path / "masks")!r},
                         batch_size=3, on_error="skip", output="numpy")
fail("masks/1.png", opening=errno.EIO)
try:
    next(iter(loader))
except penstock.ResourceError as error:
    print(error)
"""
    assert "1.png: it cannot be read (Input/output error)" in run_faulty(script)


def test_memory_that_is_not_to_be_had_is_not_a_bad_image(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(PIL.Image.Image, "convert", no_memory)
    loader = Loader(folder, transform=T.Resize((8, 8)), backend="pillow", on_error="skip")
    with pytest.raises(ResourceError, match="not enough memory"):
        next(iter(loader))


def test_a_source_of_the_users_own_may_raise_what_the_machine_said(folder: Path) -> None:
    class Source:
        classes = None
        labels = None

        def __len__(self) -> int:
            return 4

        def open(self, index: int) -> None:
            raise OSError(errno.ESTALE, "Stale file handle")

        def name(self, index: int) -> str:
            return f"sample {index}"

        def describe(self) -> str:
            return "four samples"

    loader = Loader(Source(), transform=T.Resize((8, 8)), backend="pillow", on_error="substitute")
    with pytest.raises(ResourceError, match="sample 0: it cannot be read \\(Stale file handle"):
        next(iter(loader))


def test_only_what_is_the_machines_is_told_so() -> None:
    for error in (OSError("cut short"), OSError(errno.ENOENT, "x"), ValueError(), DecodeError("x")):
        raise_if_refused(error)
    wrapped = DecodeError("it cannot be opened")
    wrapped.__cause__ = OSError(errno.EMFILE, "Too many open files")
    with pytest.raises(ResourceError):
        raise_if_refused(wrapped)
    assert issubclass(penstock.ResourceError, penstock.PenstockError)


def test_python_and_the_core_have_one_list() -> None:
    source = (Path(__file__).parents[2] / "cpp" / "engine" / "read_sample.cpp").read_text("utf-8")
    body = source[source.index("bool is_of_the_machine(int code) {") :]
    names = re.findall(r"case (E\w+):", body[: body.index("default:")])

    assert {getattr(errno, name) for name in names} == resources._OF_THE_MACHINE
