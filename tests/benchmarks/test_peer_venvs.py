"""Environments of peers, without installing any."""

import ast
import re
import sys
from pathlib import Path

import pytest

from benchmarks import peer_venvs
from benchmarks.cases import CASES
from benchmarks.peer_venvs import PINS, RECIPES, CannotInstallError, digest_of, python_of, steps_of
from benchmarks.peers import PEERS

FOLDER = Path(peer_venvs.__file__).parent / "peers"
OF_OURS = {"benchmarks.case", "benchmarks.dataset", "benchmarks.coco_set"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return the folder in which environments are made, and set what making one does."""
    monkeypatch.setattr(peer_venvs, "CHECKOUT", tmp_path)
    monkeypatch.setattr(peer_venvs, "HOMES", tmp_path / "homes")

    def runs(program):
        monkeypatch.setattr(peer_venvs, "steps_of", lambda *_: [[sys.executable, "-c", program]])

    return tmp_path / "homes", runs


def test_an_environment_is_made_once(home):
    folder, runs = home
    said = []
    runs("print('installed')")

    python = python_of("opencv", said.append)
    runs("raise SystemExit('not again')")

    assert python_of("opencv", said.append) == python == str(folder / "opencv" / "bin" / "python")
    assert len(said) == 1


def test_an_environment_is_made_anew_when_its_pins_change(home, monkeypatch):
    folder, runs = home
    runs("")
    python_of("opencv", print)
    (folder / "opencv" / "old").write_text("")

    monkeypatch.setattr(peer_venvs, "digest_of", lambda _: "another")
    python_of("opencv", print)

    assert not (folder / "opencv" / "old").exists()


def test_one_that_cannot_be_made_says_why_and_is_tried_again(home):
    _, runs = home
    runs("import sys; sys.exit('some words\\nERROR: No matching distribution found for thing==1')")
    for _ in range(2):
        with pytest.raises(CannotInstallError, match=r"opencv.*No matching distribution.*thing==1"):
            python_of("opencv", print)
    runs("raise SystemExit(1)")
    with pytest.raises(CannotInstallError, match=r"no reason given|SystemExit"):
        python_of("opencv", print)


@pytest.mark.parametrize("name", RECIPES)
def test_every_version_is_pinned(name):
    for file in PINS.glob(f"peers/{name}*.txt"):
        lines = [line for line in file.read_text().splitlines() if line and line[0] != "#"]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"[\w-]+==[\w.]+", line)] == []
    steps = [" ".join(step) for step in steps_of(name, Path("home/bin/python"))]
    assert any(f"peers/{name}.txt" in step for step in steps)
    assert any("torch.txt" in step for step in steps) == RECIPES[name].torch
    assert digest_of(name) != digest_of(next(other for other in RECIPES if other != name))


def test_every_peer_has_its_module_and_environment():
    for name, peer in PEERS.items():
        assert (FOLDER / f"{name}.py").is_file()
        assert peer.venv is None or peer.venv in RECIPES
    assert {peer.venv for peer in PEERS.values()} == {None, *RECIPES}
    assert {name for kind in CASES.values() for name in kind.peers} == set(PEERS)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_peers_need_nothing_of_penstock(path):
    """Else they could not run in their own environments, which have no penstock."""
    if path.stem.startswith("penstock"):
        pytest.skip("it is penstock")
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    ours = {name for name in modules if name.startswith(("benchmarks", "penstock"))}
    assert {name for name in ours - OF_OURS if not name.startswith("benchmarks.peers")} == set()
