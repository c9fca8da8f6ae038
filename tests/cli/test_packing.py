"""The verbs of packed data sets on the command line."""

import json
import os

import pytest

from packing import fake_jpegs
from packing.samples import image_file
from penstock.cli.main import main
from penstock.packing import parts, records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of two images and one file that is none."""
    monkeypatch.setattr(records, "encode_jpeg", fake_jpegs.encode_jpeg)
    monkeypatch.setattr(records, "rebuild_jpeg", fake_jpegs.rebuild_jpeg)
    monkeypatch.setattr(records, "check_tiles", fake_jpegs.check_tiles)
    monkeypatch.setattr(parts, "tile_layout", fake_jpegs.tile_layout)
    root = tmp_path / "data"
    for name, data in {
        "cat/a.jpg": image_file(0), "dog/b.png": image_file(1, format="PNG"), "dog/c.jpg": b"none",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def run_json(capsys, *arguments):
    code = main([*map(str, arguments), "--json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, json.loads(printed.out)


def test_all_verbs_in_turn(folder, tmp_path, capsys):
    target = tmp_path / "a.pen"
    assert main(["pack", str(folder), str(target)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("penstock: dog/c.jpg: not an image")
    assert "--on-error=skip" in told

    code, packed = run_json(capsys, "pack", folder, target, "--resume", "--on-error", "skip")
    assert (code, packed["samples"], len(packed["skipped"])) == (0, 2, 1)
    assert run_json(capsys, "verify", target, "--deep")[1]["intact"]
    assert run_json(capsys, "verify", target, "--originals")[1]["intact"]
    code, found = run_json(capsys, "inspect", target, "--sheet", tmp_path / "sheet.png")
    assert (found["classes"], found["lossy"]) == (["cat", "dog"], False)
    assert (tmp_path / "sheet.png").exists()
    code, unpacked = run_json(capsys, "unpack", target, tmp_path / "out")
    assert (code, unpacked["identical"], unpacked["pixels"]) == (0, 1, 1)


def test_damage_has_its_exit_code(folder, tmp_path, capsys):
    target = tmp_path / "a.pen"
    assert main(["pack", str(folder), str(target), "--on-error=skip", "--shards", "2"]) == 0
    shard = target / "00000-of-00002.pen"
    damaged = bytearray(shard.read_bytes())
    damaged[70] ^= 1
    shard.write_bytes(damaged)
    capsys.readouterr()
    assert main(["verify", str(target)]) == 1
    assert "sample 0 (cat/a.jpg) is damaged" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "none.pen")]) == 2


def test_lossy_packs_say_so(folder, tmp_path, capsys):
    arguments = ["pack", str(folder), str(tmp_path / "a.pen"), "--on-error=skip", "--quality", "50"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert "LOSSY" in printed.err
    assert "LOSSY: packed with quality=50; 2 images are not the originals" in printed.out


@pytest.mark.skipif(os.name != "posix", reason="such names are possible on POSIX alone")
def test_names_that_no_terminal_shows(folder, tmp_path, capfd):
    (folder / "cat" / os.fsdecode(b"\xff.jpg")).write_bytes(b"none")
    target = str(tmp_path / "a.pen")
    assert main(["pack", str(folder), target, "--on-error=skip"]) == 0
    assert "\\udcff.jpg: not an image" in capfd.readouterr().out
    assert main(["inspect", target, "--json"]) == 0
    assert main(["unpack", target, str(tmp_path / "out")]) == 0
