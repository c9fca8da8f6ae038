"""An LMDB that is cut short, before or while it is read, is an error that names it."""

import pytest

from python_child import run_python

pytest.importorskip("lmdb")

PROGRAM = """
import os, sys
import lmdb
from packing.samples import image_file
from penstock.errors import SourceError
from penstock.packing.datasets import open_dataset

def make(path):
    os.mkdir(path)
    with lmdb.open(path, map_size=1 << 24) as handle, handle.begin(write=True) as transaction:
        for number in range(40):
            transaction.put(b"%04d" % number, image_file(number, (40, 40)))
    return os.path.join(path, "data.mdb")

def cut(path, part):
    os.truncate(path, int(os.path.getsize(path) * part))

make("whole")
assert len(list(open_dataset("whole", "lmdb").items(0))) == 40
for number, part in enumerate((0, 0.02, 0.05, 0.3, 0.6, 0.9, 0.999)):
    for taken in (None, 0, 3):
        path = f"{number}-{taken}"
        file = make(path)
        try:
            if taken is None:
                cut(file, part)
            items = open_dataset(path, "lmdb").items(0)
            for _ in range(taken or 0):
                next(items)
            if taken is not None:
                cut(file, part)
            list(items)
        except SourceError as error:
            assert path in str(error), error
        else:
            raise AssertionError((part, taken))
"""


def test_a_cut_lmdb_is_an_error_and_no_fault(tmp_path):
    """In a process of its own, which a fault would end."""
    run_python("-c", PROGRAM, cwd=tmp_path, timeout_s=60)
