"""Two processes share an epoch, by torch's own sampler and by those of frameworks."""

import ast
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch.distributed.run")

SCRIPT = """
import logging, sys, warnings
from pathlib import Path
import torch
import torch.distributed as dist
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset, keep_native

folder, how = sys.argv[1:]
files = sorted(Path(folder).rglob("*.jpg"))
transform = T.Compose([T.RandomResizedCrop(8), T.ToDtype("float32", scale=True)])
dataset = Dataset(files, labels=range(len(files)), transform=transform, seed=4)
seen = [[], []]

def note(epoch, batch):
    images, labels = batch
    seen[epoch] += [(int(label), float(image.sum())) for image, label in zip(images, labels)]

if how in ("sampler", "none"):
    dist.init_process_group("gloo")
    sampler = torch.utils.data.DistributedSampler(dataset) if how == "sampler" else None
    loader = DataLoader(dataset, 2, sampler=sampler)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for epoch in (0, 1):
            loader.set_epoch(epoch)
            for batch in loader:
                note(epoch, batch)
    assert len(told) == (how == "none"), told
elif how.startswith("accelerate"):
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    loader = DataLoader(dataset, 2, shuffle=True)
    prepared = accelerator.prepare(loader)
    if how.endswith("native"):
        keep_native(prepared, loader)
    for epoch in (0, 1):
        for batch in prepared:
            note(epoch, batch)
else:
    import lightning
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(192, 1)

        def training_step(self, batch, index):
            note(self.current_epoch, batch)
            return self.layer(batch[0].flatten(1)).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )
    trainer.fit(Module(), DataLoader(dataset, batch_size=2, shuffle=True))
    assert type(trainer.train_dataloader) is DataLoader
    assert type(trainer.train_dataloader.sampler).__name__ == "DistributedSampler"
print(f"\\nSEEN {seen}", flush=True)
if dist.is_initialized():
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sampler", "none", "accelerate", "accelerate-native", "lightning"])
def test_two_ranks_share_every_epoch(tmp_path, make_folder, how):
    """Each sample on one rank, drawn anew in the next epoch; all on both without a sampler."""
    pytest.importorskip(how.partition("-")[0] if how not in {"sampler", "none"} else "torch")
    folder = make_folder(images=12)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]

    done = subprocess.run(
        [*run, str(script), str(folder), how],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=180,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    lines = [line[5:] for line in done.stdout.splitlines() if line.startswith("SEEN")]
    one, other = map(ast.literal_eval, lines)
    first, second = ([*ours, *theirs] for ours, theirs in zip(one, other, strict=True))
    copies = 2 if how == "none" else 1
    for epoch in (first, second):
        assert sorted(sample for sample, _ in epoch) == sorted([*range(12)] * copies)
    assert len(one[0]) == len(other[0]) == 6 * copies
    assert not set(first) & set(second), "the draws of another epoch"
