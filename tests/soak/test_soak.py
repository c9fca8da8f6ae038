"""The soak goes through where all is well, and finds what is planted."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from soak import __main__ as command
from soak import faults
from soak.children import Scene
from soak.data_sets import DataSet, make_data_sets
from soak.loading import LEAK_KB, compare, reference, what_grew
from soak.packing import check_same
from soak.pipelines import Pipeline, random_pipeline, step

PIPELINE = Pipeline(
    "photos",
    "packed",
    [step("RandomResizedCrop", 8)],
    options={"batch_size": 4, "fidelity": "exact", "output": "numpy", "shuffle": True},
)


@pytest.fixture(scope="module")
def data_sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataSet]:
    return make_data_sets(tmp_path_factory.mktemp("soak") / "data", seed=0, images=12)


def run_and_compare(scene: Scene) -> None:
    expected = reference(scene, PIPELINE)
    compare(scene, scene.run(scene.job_of(PIPELINE)), expected)


def test_a_short_soak_passes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    written = tmp_path / "result.json"
    kinds = "batches,resume,ranks"
    code = command.main(
        f"--configurations 2 --seed 5 --images 12 --kinds {kinds} --json {written}".split()
    )

    result = json.loads(written.read_text(encoding="utf-8"))
    assert (code, result["failed"], result["configurations"]) == (0, [], 2), capsys.readouterr().out
    assert result["worst_mb"] > 10


def test_one_thread_and_many_agree(data_sets: dict[str, DataSet], tmp_path: Path) -> None:
    scene = Scene(random.Random(0), tmp_path, data_sets)
    run_and_compare(scene)

    assert scene.failures == []
    assert not scene.refused


@pytest.mark.parametrize(
    ("plant", "told"),
    [
        ("wrong_batch", "batch 1 differs from one thread's"),
        ("raw_exception", "raw exception"),
        ("signal", "died of SIGSEGV"),
    ],
)
def test_a_planted_fault_is_found(
    data_sets: dict[str, DataSet], tmp_path: Path, plant: str, told: str
) -> None:
    scene = Scene(random.Random(0), tmp_path, data_sets, plant)
    run_and_compare(scene)

    assert any(told in failure for failure in scene.failures), scene.failures


def test_growth_is_found() -> None:
    flat = {"descriptors": 5, "threads": 2, "shared_memory": 0, "temporary_files": 0}
    steady = [{**flat, "resident_kb": 50_000 + 3 * n} for n in range(16)]
    assert what_grew(steady) == []

    leaking = [{**flat, "resident_kb": 50_000 + LEAK_KB * n} for n in range(16)]
    assert "memory grew" in what_grew(leaking)[0]

    opening = [{**flat, "resident_kb": 50_000, "descriptors": 5 + n} for n in range(16)]
    assert "descriptors grew" in what_grew(opening)[0]


def test_a_pack_that_differs_is_found(data_sets: dict[str, DataSet], tmp_path: Path) -> None:
    whole = data_sets["photos"].forms["packed"]
    copy = tmp_path / whole.name
    data = bytearray(whole.read_bytes())
    copy.write_bytes(data)
    scene = Scene(random.Random(0), tmp_path, data_sets)
    check_same(scene, copy, "the copy")
    assert scene.failures == []

    data[len(data) // 2] ^= 1
    copy.write_bytes(data)
    check_same(scene, copy, "the copy")
    assert "photos.pen differs from an undisturbed pack; verify: " in scene.failures[0]


def test_a_failure_is_told_with_the_line_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(command.KINDS, "planted", (lambda scene: scene.fail("it is wrong"), 1))

    code = command.main(
        ["--configurations", "1", "--seed", "9", "--images", "12", "--kinds", "planted"]
    )

    out = capsys.readouterr().out
    assert code == 1
    assert 'make soak ARGS="--seed 9 --kinds planted --images 12 --number 0 --repeat 5"' in out
    assert "it is wrong" in out


def test_a_number_means_the_same_configuration_every_time(data_sets: dict[str, DataSet]) -> None:
    one, other = (random_pipeline(random.Random("3:14"), data_sets) for _ in range(2))

    assert one == other


def test_faults_can_be_made_where_there_is_a_compiler(
    data_sets: dict[str, DataSet], tmp_path: Path
) -> None:
    """One call in one fails: the loader says so in its own words."""
    if faults.library() is None:
        pytest.skip("no C compiler: the soak leaves I/O faults out")
    scene = Scene(random.Random(0), tmp_path, data_sets)
    environment = {
        "LD_PRELOAD": str(faults.library()),
        "SOAK_FAULTS_BELOW": str(data_sets["photos"].forms["packed"].parent),
        "SOAK_FAULTS_EVERY": "1",
    }
    ended = scene.run(scene.job_of(PIPELINE), **environment)

    assert scene.failures == []
    assert ended.error is not None
    assert "photos.pen" in ended.error["text"]
