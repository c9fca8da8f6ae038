"""A Dataset is tried out in a child process, which must not wait for threads of its parent."""

import textwrap

import pytest

from python_child import run_python

pytest.importorskip("torch")


def test_torch_may_have_worked_with_many_threads_before(folder, torchvision, monkeypatch):
    """As after a step of training: OpenMP's threads do not come along into a fork."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    script = f"""
    from pathlib import Path
    import torch
    from PIL import Image
    from torch.utils.data import DataLoader, Dataset
    import penstock

    class Photos(Dataset):
        def __init__(self):
            self.files = sorted(Path({str(folder)!r}).rglob("*.jpg"))

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            photo = Image.open(self.files[index]).convert("RGB")
            return photo.getpixel((0, 0)), torch.ones(4_000_000).exp().sum()

    torch.rand(4_000_000).exp().sum()
    loader = penstock.accelerate(DataLoader(Photos(), 4), way="deferred")
    print(type(loader).__name__)
    """
    assert run_python("-c", textwrap.dedent(script), timeout_s=60).strip() == "DataLoader"
