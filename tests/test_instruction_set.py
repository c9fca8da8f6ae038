"""A wrong PENSTOCK_SIMD is told as what it is, before any file is blamed for it."""

import os
import subprocess
import sys

import pytest

from penstock import _core
from penstock.cli.main import main

SCRIPT = """
import sys
import penstock
try:
    {call}
except penstock.PenstockError as error:
    print(type(error).__name__, error)
"""
CALLS = (
    "penstock.Loader(sys.argv[1], on_error='skip')",
    "penstock.pack(sys.argv[1], sys.argv[2], on_error='skip')",
    "penstock.unpack(sys.argv[3], sys.argv[2])",
    "penstock.verify(sys.argv[3], deep=True)",
)


@pytest.fixture(scope="module")
def packed(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("packed") / "a.pen"
    assert main(["pack", str(folder), str(target)]) == 0
    return target


@pytest.mark.parametrize("call", CALLS)
def test_an_unknown_instruction_set_is_named(folder, packed, tmp_path, call):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(call=call), folder, tmp_path / "new.pen", packed],
        env=os.environ | {"PENSTOCK_SIMD": "avx3"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("CoreError PENSTOCK_SIMD: there is no instruction set 'avx3'.")
    assert f"{_core.supported_isas()[-1]}, which this CPU has, or unset it." in done.stdout
