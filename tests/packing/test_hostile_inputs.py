"""Whatever a file says, the answer is one kind of error that names it, in little memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import hostile as inputs
from penstock.cli.main import EXIT_ERROR, main

for library in ("google_crc32c", "h5py", "lmdb", "pyarrow", "yaml"):
    pytest.importorskip(library)

CHILD = Path(__file__).parent.parent / "pack_in_little_memory.py"


def pack(build, folder):
    """Pack as the command does."""
    data = folder / "data"
    data.mkdir()
    return main(["pack", *map(str, build(data)), str(folder / "out.pen")])


@pytest.mark.parametrize("name", inputs.REFUSED)
def test_hostile_input_is_refused_with_one_clean_message(name, tmp_path, capsys):
    build, text = inputs.REFUSED[name]

    code = pack(build, tmp_path)

    told = capsys.readouterr().err
    assert code == EXIT_ERROR
    assert told.startswith("penstock: ")
    assert text in told
    assert "Traceback" not in told
    assert len(told) < 2000
    assert not (tmp_path / "out.pen").exists()


@pytest.mark.parametrize("name", inputs.ODD)
def test_odd_input_is_read_or_refused(name, tmp_path, capsys):
    code = pack(inputs.ODD[name], tmp_path)

    told = capsys.readouterr().err
    assert code in {0, EXIT_ERROR}
    assert "Traceback" not in told


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    """What came of each: exit code and errors, from processes that have 500 MB and no more."""
    given = {}
    for name, (build, _) in inputs.BOMBS.items():
        folder = tmp_path_factory.mktemp("bomb")
        given[name] = [*map(str, build(folder)), str(folder / "out.pen")]
    child = subprocess.run(
        [sys.executable, CHILD],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(child.stdout)


@pytest.mark.parametrize("name", inputs.BOMBS)
def test_a_bomb_is_refused_in_little_memory(name, bombs):
    code, told = bombs[name]

    assert code == EXIT_ERROR, told[-2000:]
    assert told.startswith("penstock: ")
    assert inputs.BOMBS[name][1] in told
    assert "Traceback" not in told
