"""Train on two processes of Ray Train, with batches that workers of Ray's prepare.

Each training process takes its own share of every epoch from a `RayLoader` with a worker of its
own. One of the workers is killed in the middle, and no batch is missing.

Run:  python examples/ray_train.py
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
import ray.train
import torch
from ray.train.torch import TorchTrainer

import penstock as ps
from penstock import transforms as T
from penstock.ray import RayLoader

SIDE, CLASSES, EPOCHS, RANKS, IMAGES = 32, 4, 2, 2, 96


def train(config: dict[str, Any]) -> None:
    """What every training process does."""
    context = ray.train.get_context()
    rank = context.get_world_rank()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * SIDE * SIDE, CLASSES))
    model = ray.train.torch.prepare_model(model)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    loader = RayLoader(
        config["photos"],
        workers=1,
        batch_size=8,
        transform=T.classification(SIDE),
        shuffle=True,
        rank=rank,
        world_size=context.get_world_size(),
    )
    with loader:
        for epoch in range(EPOCHS):
            seen = 0
            for images, labels in loader:
                loss = torch.nn.functional.cross_entropy(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if epoch == 0 and seen == 0 and rank == 0:
                    os.kill(loader.workers[0].pid, signal.SIGKILL)
                seen += len(labels)
            ray.train.report({"epoch": epoch, "seen": seen, "loss": loss.item()})
        lost = loader.metrics.restarts
    told = f"rank {rank} saw {seen} of {IMAGES} images in each epoch; workers lost: {lost}"
    Path(config["told"], f"{rank}.txt").write_text(told, "utf-8")


def main() -> None:
    """Make photos, start Ray on this machine, and train."""
    with tempfile.TemporaryDirectory(prefix="ps-", dir="/tmp") as folder:
        photos = ps.make_sample_set(f"{folder}/photos", images=IMAGES, classes=CLASSES)
        ray.init(
            num_cpus=2 * RANKS,
            include_dashboard=False,
            object_store_memory=200_000_000,
            _temp_dir=f"{folder}/ray",
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
        trainer = TorchTrainer(
            train,
            train_loop_config={"photos": str(photos), "told": folder},
            scaling_config=ray.train.ScalingConfig(num_workers=RANKS),
            run_config=ray.train.RunConfig(storage_path=f"{folder}/results"),
        )
        trainer.fit()
        ray.shutdown()
        for path in sorted(Path(folder).glob("*.txt")):
            print(path.read_text("utf-8"))


if __name__ == "__main__":
    main()
