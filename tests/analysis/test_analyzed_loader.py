"""What `penstock analyze` takes besides folders: loaders by name, and a step."""

import json
import sys

import pytest

from penstock.cli.main import main

OURS = """\
import numpy as np
from PIL import Image
from penstock import Loader, transforms as T

def make():
    for number in range(8):
        Image.fromarray(np.zeros((40, 40, 3), np.uint8)).save(f"{number}.jpg")
    files = [f"{number}.jpg" for number in range(8)]
    return Loader(
        files, labels=[0] * 8, batch_size=2,
        transform=T.CenterCrop(16), output="numpy",
        threads=1,
    )

seen = []

def step(batch):
    seen.append(batch)

photos = [1, 2, 3]
"""

TORCHS = """\
import torch

class Photos(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        return torch.zeros(3, 8, 8), index

loader = torch.utils.data.DataLoader(
    Photos(),
    batch_size=4,
)
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "ours_to_analyze.py").write_text(OURS)
    (tmp_path / "torchs_to_analyze.py").write_text(TORCHS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in ("ours_to_analyze", "torchs_to_analyze"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["ours_to_analyze:make", "ours_to_analyze.py:make"])
def test_loader_that_a_function_makes(name, capsys, hurried):
    assert main(["analyze", name, "--quick", "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["images"], found["batch_size"]) == (8, 2)
    assert found["title"].startswith("Loader(")


def test_torch_loader_and_the_line_that_makes_it(capsys, hurried):
    pytest.importorskip("torch")
    arguments = ["torchs_to_analyze.py:loader", "--quick", "--json", "--device", "emulated:1e6"]
    assert main(["analyze", *arguments]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["title"].startswith("DataLoader(")
    lines = [one["line"] for one in found["advice"] if "num_workers" in one["line"]]
    assert all(line.endswith("# torchs_to_analyze.py:10") for line in lines)


def test_step_of_the_user(capsys, hurried):
    step = "ours_to_analyze:step"
    assert main(["analyze", "ours_to_analyze:make", "--step", step, "--quick", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["device"] == "step"
    assert sys.modules["ours_to_analyze"].seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ours_to_analyze:photos"], "is of type list. Name a torch DataLoader"),
        (["ours_to_analyze:nothing"], "ours_to_analyze has no nothing"),
        (["no_such_module:loader"], "no_such_module: cannot be imported"),
        (["ours_to_analyze:make", "--batch-size", "4"], "--batch-size"),
        (["ours_to_analyze:make", "--transform", "a:b"], "--transform"),
        (["ours_to_analyze:make", "--step", "ours_to_analyze:photos"], "--step"),
        (["ours_to_analyze:make", "--step", "a:b", "--device", "cpu"], "Leave out --device"),
    ],
)
def test_bad_names_end_with_a_sentence(arguments, message, capsys):
    assert main(["analyze", *arguments]) == 2
    assert message in capsys.readouterr().err
