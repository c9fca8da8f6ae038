"""Every fuzz target has what a fuzzing service takes along: options, a dictionary, seeds."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
TARGETS = [f"fuzz_{path.stem}" for path in sorted(FUZZ.glob("*.cpp"))]


@pytest.fixture(scope="module")
def make_seeds():
    spec = importlib.util.spec_from_file_location("make_seeds", FUZZ / "make_seeds.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", TARGETS)
def test_options_name_a_dictionary_that_exists(target):
    lines = (FUZZ / f"{target}.options").read_text(encoding="utf-8").splitlines()
    options = dict(line.split(" = ") for line in lines[1:])

    assert lines[0] == "[libfuzzer]"
    assert int(options["max_len"]) > 0
    if "dict" in options:
        assert (FUZZ / options["dict"]).exists()


def test_every_target_has_seeds_that_are_the_same_every_time(make_seeds, tmp_path, monkeypatch):
    written = []
    for name in ("one", "other"):
        monkeypatch.setattr("sys.argv", ["make_seeds.py", str(tmp_path / name)])
        assert make_seeds.main() == 0
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})

    assert written[0] == written[1]
    assert sorted(written[0]) == [f"{target}_seed_corpus.zip" for target in TARGETS]
    for target in TARGETS:
        with zipfile.ZipFile(tmp_path / "one" / f"{target}_seed_corpus.zip") as corpus:
            assert all(info.file_size > 0 for info in corpus.infolist())
            assert len(corpus.infolist()) > 1
