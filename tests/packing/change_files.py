"""Changes packed files while they are read; run as a program, for a fault would end its process.

Prints a line for each case that was as it must be.
"""

import faulthandler
import os
import shutil
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from packing.samples import ListSource, image_file
from penstock import Loader, PackError, inspect, pack, unpack, verify
from penstock import transforms as T
from penstock.geometry import Size
from penstock.packing.format import TAIL_BYTES, Tail
from penstock.packing.inspect import make_contact_sheet
from penstock.packing.items import BOX_LABELS, BOXES, LABEL, MASKS, Column, PackItem
from penstock.packing.mask_runs import encode_runs
from penstock.packing.shards import open_packed

SAMPLES = 24
SIZE = (48, 80)


def make(path: Path, first: int) -> None:
    """Pack some images with all kinds of columns."""
    listed = []
    for number in range(first, first + SAMPLES):
        kind = ("JPEG", "PNG")[number % 4 == 0]
        boxes = np.array([[1, 2, 30, 40], [5, 5, 70, 45]][: 1 + number % 2], np.float32)
        masks = [np.random.default_rng(number).random(SIZE) > 0.5 for _ in boxes]
        values = {
            "label": number % 2,
            "boxes": boxes,
            "box_labels": [0, 1][: len(boxes)],
            "masks": encode_runs(masks, len(masks), Size(*SIZE)),
            "remark": f"remark {number}",
        }
        data = image_file(number, SIZE, format=kind)
        listed.append(PackItem(f"{number}.{kind.lower()}", data, values))
    columns = (LABEL, BOXES, BOX_LABELS, MASKS, Column("remark", "text"))
    pack(ListSource(listed, columns, ("a", "b"), ("one", "two")), path, progress=False)


def records_end(path: Path) -> int:
    """Where the index begins."""
    data = path.read_bytes()
    return Tail.from_bytes(data[-TAIL_BYTES:], len(data), "").records_end


def flip_records(path: Path) -> None:
    """Write to all records; the size stays."""
    data, end = bytearray(path.read_bytes()), records_end(path)
    data[64:end] = bytes(byte ^ 0x5A for byte in data[64:end])
    with path.open("r+b") as file:
        file.write(data)


def overwrite(path: Path) -> None:
    """What `cp other.pen this.pen` does."""
    shutil.copyfile(path.with_name("other"), path)


def rename_over(path: Path) -> None:
    """Replace a file as one should."""
    os.replace(shutil.copy(path.with_name("other"), f"{path}.new"), path)


FATAL = {
    "cut to nothing": lambda path: os.truncate(path, 0),
    "cut in half": lambda path: os.truncate(path, path.stat().st_size // 2),
    "cut in the index": lambda path: os.truncate(path, records_end(path) + 100),
    "cut by a byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "overwritten": overwrite,
    "other records": flip_records,
}
HARMLESS = {"touched": os.utime, "renamed over": rename_over, "removed": os.unlink}


def fresh(folder: Path) -> Path:
    """A packed file that was written some time ago."""
    path = Path(shutil.copy(folder / "seed", folder / "used.pen"))
    os.utime(path, (1_000_000, 1_000_000))
    return path


def tell(case: str) -> None:
    """Say that a case is as it must be."""
    sys.stdout.write(f"{case}\n")
    sys.stdout.flush()


def check_told(path: Path, told: str) -> None:
    """The file is named, and what became of it."""
    assert str(path) in told, told
    assert "while it was open" in told or "no longer" in told, told


def expect_error(case: str, path: Path, act: Callable, *arguments, **options) -> None:
    """An error that names the file, of our own kind."""
    try:
        act(*arguments, **options)
    except PackError as error:
        check_told(path, str(error))
    else:
        raise AssertionError(f"{case}: no error")
    tell(case)


LOADERS = {
    "labels": {},
    "skipping": {"on_error": "skip"},
    "substituting": {"on_error": "substitute"},
    "objects": {"targets": "list", "masks": True},
    "columns": {"targets": None, "columns": ["label", "remark", "name"]},
    "pillow": {"backend": "pillow"},
}


def loader_of(path: Path, threads: int, name: str) -> Loader:
    """One of the loaders above."""
    options = {"transform": T.RandomResizedCrop(32), "targets": "labels", **LOADERS[name]}
    return Loader(path, output="numpy", threads=threads, seed=1, batch_size=4, **options)


def same(one: Any, other: Any) -> bool:
    """Whether two batches are alike."""
    if isinstance(one, dict):
        return same(list(one.values()), list(other.values()))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


def load(folder: Path) -> None:
    """Before the first batch, and in the midst of an epoch; what was delivered must be right."""
    for name in LOADERS:
        for threads in (1, 3) if name in {"labels", "objects"} else (2,):
            wanted = list(loader_of(folder / "seed.pen", threads, name))
            for taken, change in product((0, 2), (*FATAL, *HARMLESS)):
                load_changed(folder, name, threads, wanted, taken, change)


def load_changed(
    folder: Path, name: str, threads: int, wanted: list, taken: int, change: str
) -> None:
    """One case."""
    case = f"{name}, {threads} threads, {change} after {taken} batches"
    path = fresh(folder)
    loader = loader_of(path, threads, name)
    faulthandler.enable()  # puts its own handler of SIGBUS on top of ours
    batches = iter(loader)
    got = [next(batches) for _ in range(taken)]
    if change in FATAL:
        FATAL[change](path)
        expect_error(case, path, got.extend, batches)
    else:
        HARMLESS[change](path)
        got.extend(batches)
        assert len(got) == len(wanted), case
        tell(case)
    assert all(map(same, got, wanted)), case
    loader.close()
    faulthandler.disable()


def change_after_opening(apply: Callable) -> None:
    """Have the verbs find their file changed as soon as it is open."""

    def opened(path: Path) -> Any:
        data = open_packed(path)
        apply(Path(path))
        return data

    for name in ("inspect", "unpack", "verify"):
        sys.modules[f"penstock.packing.{name}"].open_packed = opened


def use(folder: Path) -> None:
    """The other verbs."""
    for change, apply in FATAL.items():
        change_after_opening(apply)
        for threads, how in ((1, {}), (3, {"deep": True}), (2, {"originals": True})):
            report = verify(fresh(folder), threads=threads, progress=False, **how)
            if change == "other records":  # which is damage like any other
                assert not report.intact
            else:
                assert len(report.problems) == 1, (change, report.problems[:3])
                check_told(folder / "used.pen", report.problems[0])
            tell(f"verify, {threads} threads, {change}")
            for target in (folder / "unpacked", folder / "unpacked.tar"):
                case = f"unpack, {threads} threads, {change}"
                path = fresh(folder)
                expect_error(case, path, unpack, path, target, threads=threads, progress=False)
                shutil.rmtree(target, ignore_errors=True)
        path = fresh(folder)
        if change != "other records":  # which inspect does not look at
            expect_error(f"inspect, {change}", path, inspect, path)
        path = fresh(folder)
        expect_error(f"sheet, {change}", path, make_contact_sheet, path, folder / "sheet.png")
    for change, apply in HARMLESS.items():
        change_after_opening(apply)
        assert verify(fresh(folder), progress=False).intact, change
        assert inspect(fresh(folder)).summary.samples == SAMPLES, change
        assert unpack(fresh(folder), folder / "unpacked", progress=False).files == SAMPLES
        shutil.rmtree(folder / "unpacked")
        tell(f"verbs, {change}")


if __name__ == "__main__":
    where = Path(sys.argv[2])
    make(where / "seed.pen", 0)
    make(where / "other.pen", 100)
    shutil.copy(where / "seed.pen", where / "seed")
    shutil.copy(where / "other.pen", where / "other")
    {"load": load, "use": use}[sys.argv[1]](where)
