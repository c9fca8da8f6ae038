import subprocess
import sys
from pathlib import Path

import pytest

from scripts_environment import environment_for

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    """An example that a reader cannot run is worse than none."""
    pytest.importorskip("torch")

    done = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        env=environment_for(example),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout
