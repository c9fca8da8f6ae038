"""`penstock run`: the script behaves as it does without us, and is judged at its end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from script_runs import LOOP, command, plain, run
from scripts_environment import environment_for

EXAMPLES = Path(__file__).parents[2] / "examples"
PUBLIC_STYLE = ["train_resnet_plain", "train_lightning_style", "train_hf_style"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC_STYLE)
def test_public_style_scripts_run_unmodified(name, tmp_path):
    script = EXAMPLES / f"{name}.py"
    done = subprocess.run(
        command("--json", "found.json", script),
        cwd=tmp_path,
        env=environment_for(script),
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads((tmp_path / "found.json").read_text())

    assert done.returncode == 0, done.stderr
    assert "penstock" not in done.stdout
    assert "the script ended after" in done.stderr
    assert (found["ended"], found["exit_code"], found["arguments"]) == ("ended", None, [])
    for loader in found["loaders"]:
        assert (loader["epochs"], loader["steps"], loader["images"]) == (2, 16, 128)
        assert loader["where"].startswith(f"{name}.py:")
        assert loader["verdict"] != "no verdict"
        assert loader["sentence"] in done.stderr
    assert len(found["loaders"]) == (2 if name == "train_resnet_plain" else 1)


def test_steps_and_images_are_counted(write, tmp_path):
    done = run(write(LOOP.format(body="pass")), options=["--json", tmp_path / "found.json"])
    (loader,) = json.loads((tmp_path / "found.json").read_text())["loaders"]

    assert done.stdout == ""
    assert (loader["steps"], loader["images"]) == (10, 40)
    assert loader["where"] == "train.py:7"


def test_a_trace_is_written(write, tmp_path):
    run(write(LOOP.format(body="time.sleep(0.03)")), options=["--trace", tmp_path / "trace.json"])
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    named = [event["name"] for event in events]

    assert (named.count("wait"), named.count("step")) == (10, 10)
    assert "the training step" in named


@pytest.mark.quiet
def test_a_script_that_computes_is_accelerator_bound(write):
    assert "accelerator-bound" in run(write(LOOP.format(body="time.sleep(0.01)"))).stderr


def test_our_own_loader_is_seen(write, tmp_path):
    script = write(
        "import penstock as ps\n"
        "from penstock.demo.sample_set import make_sample_set\n"
        "folder = make_sample_set('photos', images=8, classes=2)\n"
        "loader = ps.Loader(folder, batch_size=2, output='numpy',\n"
        "                   transform=ps.transforms.CenterCrop(64))\n"
        "print(sum(len(images) for images, labels in loader))\n"
    )
    done = run(script, options=["--json", tmp_path / "found.json"])
    (loader,) = json.loads((tmp_path / "found.json").read_text())["loaders"]

    assert done.stdout == "8\n"
    assert (loader["steps"], loader["images"]) == (4, 8)


def test_spawned_workers_find_the_script(write, tmp_path):
    """A worker that is spawned imports the script again, by its path."""
    script = write(
        "import torch\n"
        "from torch.utils.data import DataLoader, Dataset\n"
        "class Squares(Dataset):\n"
        "    def __len__(self): return 32\n"
        "    def __getitem__(self, index): return torch.full((3, 2, 2), index ** 2)\n"
        "if __name__ == '__main__':\n"
        "    loader = DataLoader(Squares(), 4, num_workers=1, multiprocessing_context='spawn')\n"
        "    print(sum(int(images[:, 0, 0, 0].sum()) for images in loader))\n"
    )
    done = run(script, options=["--json", tmp_path / "found.json"])

    assert done.stdout == f"{sum(index**2 for index in range(32))}\n", done.stderr
    assert json.loads((tmp_path / "found.json").read_text())["loaders"][0]["images"] == 32


BUSY_WORKERS = """
import torch
from torch.utils.data import DataLoader, Dataset
class Busy(Dataset):
    def __len__(self): return 64
    def __getitem__(self, index):
        for _ in range(20):
            sum(range(100_000))
        return torch.zeros(3, 2, 2)
if __name__ == '__main__':
    loader = DataLoader(Busy(), 4, num_workers={workers}, multiprocessing_context={context})
    for images in loader:
        pass
"""


@pytest.mark.parametrize(("workers", "context"), [(0, None), (1, "fork"), (1, "spawn")])
def test_what_the_loader_does_is_seen_in_any_process(write, tmp_path, workers, context):
    script = write(BUSY_WORKERS.format(workers=workers, context=repr(context)))
    done = run(script, options=["--json", tmp_path / "found.json"])
    (loader,) = json.loads((tmp_path / "found.json").read_text())["loaders"]
    part = loader["inside"]["parts"][0]

    assert (part["stage"], part["name"]) == ("own code", "Busy.__getitem__"), done.stderr
    assert part["place"] in {"train.py:7", "train.py:8"}
    assert loader["cpu"]["loading_s"] > loader["cpu"]["step_s"]


def test_a_crash_is_shown_as_python_shows_it(write):
    script = write(LOOP.format(body="if number == 7: raise ValueError('went wrong')"))
    done, expected = run(script), plain(script)

    assert done.returncode == expected.returncode == 1
    assert done.stderr.startswith(expected.stderr)
    assert "the script crashed" in done.stderr
    assert "DataLoader(TensorDataset, 40 samples" in done.stderr


def test_no_loader_is_said(write, tmp_path):
    done = run(write("print(1)"), "x", options=["--json", tmp_path / "found.json"])
    found = json.loads((tmp_path / "found.json").read_text())

    assert "iterated over no DataLoader" in done.stderr
    assert (found["arguments"], found["loaders"]) == (["x"], [])


def test_what_keeps_us_from_watching_is_said_and_the_script_goes_on(write):
    script = write(
        "import sys\n"
        "sys.modules['penstock'] = sys  # as a module of that name beside the script would\n"
        "from torch.utils.data import DataLoader\n"
        "print(len(list(DataLoader(range(4), 2))))\n"
        "sys.exit(3)\n"
    )
    done = run(script)

    assert (done.stdout, done.returncode) == ("2\n", 3)
    assert "penstock: loaders could not be watched: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "start", [["-O", "-m", "penstock.cli.main"], ["-Om", "penstock.cli.main"]], ids="_".join
)
def test_options_of_python_are_passed_on(write, start):
    script = write("import sys\nprint(__debug__, sys.orig_argv[1:])\n")
    arguments = [sys.executable, *start, "run", script, "-m"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert done.stdout == f"False {['-O', str(script), '-m']}\n"


def test_a_python_that_reads_no_environment_is_refused(write):
    arguments = [sys.executable, "-E", *command(write("print(1)"))[1:]]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("", 2)
    assert "Start it without these options" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such.py"], "there is no script 'no_such.py'"),
        (["--json", "no/such/file.json", __file__], "the folder does not exist"),
        (["--json", ".", __file__], "it is a folder"),
    ],
)
def test_what_cannot_be_run(arguments, message):
    done = subprocess.run(command(*arguments), capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert message in done.stderr
