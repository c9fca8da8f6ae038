"""Kinds whose input and output fails at random, through a library that is loaded in between."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from soak.children import Scene
from soak.loading import reference
from soak.packing import REFUSED, finish, pack_job
from soak.pipelines import random_pipeline

SOURCE = Path(__file__).with_name("io_faults.c")
RATES = (3, 10, 30, 100, 300)  # one call in so many


@lru_cache(maxsize=1)
def library() -> Path | None:
    """Compile the library; None where there is no compiler, or another system than Linux."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    folder = tempfile.mkdtemp(prefix="penstock-soak-faults-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder) / "io_faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(target), str(SOURCE), "-ldl"]
    done = subprocess.run(command, capture_output=True, check=False)
    return target if done.returncode == 0 else None


def fault_pack(scene: Scene) -> None:
    """A pack whose disk fails says so, and `--resume` then ends in the right file."""
    arguments, target = pack_job(scene)
    for _ in range(scene.rng.randint(1, 3)):
        child = scene.start_pack(*arguments, "--resume", **_environment(scene, target))
        ended = scene.judge(child.wait())
        scene.expect(ended.code in {0, REFUSED}, f"exit code {ended.code}: {ended.errors}")
        if ended.code == REFUSED:
            scene.expect("penstock: " in ended.errors, f"fails without a reason: {ended.errors!r}")
    finish(scene, arguments, target)


def fault_loader(scene: Scene) -> None:
    """A loader whose disk fails delivers the right batches, and then says what failed."""
    pipeline = random_pipeline(scene.rng, scene.data_sets, torch=False)
    pipeline.options["on_error"] = "raise"
    scene.notes.append(pipeline.describe())
    expected = reference(scene, pipeline)
    folder = scene.data_sets[pipeline.data].forms[pipeline.form].parent
    ended = scene.run(scene.job_of(pipeline), **_environment(scene, folder))
    if scene.failures:
        return
    delivered = len(ended.batches)
    scene.expect(ended.batches == expected.batches[:delivered], "a batch differs from one thread's")
    if ended.error is None:
        scene.expect(delivered == len(expected.batches), "ended early without an error")


def _environment(scene: Scene, below: Path) -> dict[str, str]:
    return {
        "LD_PRELOAD": str(library()),
        "SOAK_FAULTS_BELOW": str(below),
        "SOAK_FAULTS_SEED": str(scene.rng.getrandbits(32)),
        "SOAK_FAULTS_EVERY": str(scene.rng.choice(RATES)),
    }
