"""The training loop of the examples: processes, mixed precision, checkpoints in mid-epoch."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

import penstock as ps


def add_arguments(parser: argparse.ArgumentParser, **defaults: Any) -> None:
    """Add what every training is told."""
    add = parser.add_argument
    add("--model", default="small", help="small, or the name of one of torchvision's")
    add("--epochs", type=int)
    add("--batch-size", type=int, help="images in a batch of each process")
    add("--lr", type=float, help="the highest learning rate")
    add("--seed", type=int, default=0, help="of the weights, the order and the augmentation")
    add("--precision", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    add("--checkpoint", type=Path, help="the file to save to, and to resume from")
    add("--save-every", type=int, default=50, help="batches between two checkpoints")
    add("--resume", action="store_true", help="go on from the checkpoint")
    add("--stop-after", type=int, help="stop after this batch, to try --resume")
    add("--images", type=int, help="how many to draw for training, if no data is named")
    parser.set_defaults(**defaults)


@dataclass(frozen=True)
class Process:
    """This process among those that train together."""

    rank: int
    world_size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Whether this is the one that prints and saves."""
        return self.rank == 0

    def total(self, *numbers: float) -> list[float]:
        """Return the sums of numbers over all processes, which thereby wait for each other."""
        sums = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        if self.world_size > 1:
            dist.all_reduce(sums)
        return [float(number) for number in sums]

    def gather(self, values: list[Any]) -> list[Any]:
        """Return the values of all processes, one process after the other."""
        shares: list[Any] = [values]
        if self.world_size > 1:
            shares = [None] * self.world_size
            dist.all_gather_object(shares, values)
        return [value for share in shares for value in share]

    def own_share(self, data: Path, **options: Any) -> ps.Loader:
        """Return a loader for tests, in which every image comes once over all processes.

        The loader's own shares are filled up to equal length, as training needs it, and so repeat
        some images.
        """
        images = ps.open_data(data)
        mine = range(self.rank, len(images), self.world_size)
        return ps.Loader(images, indices=mine, rank=0, world_size=1, **options)


@contextmanager
def join_processes() -> Iterator[Process]:
    """Join the processes that torchrun started, if it started this one."""
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    has_cuda = torch.cuda.is_available()
    device = torch.device("cpu")
    if has_cuda:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    if world_size > 1:
        dist.init_process_group("nccl" if has_cuda else "gloo")
    try:
        yield Process(dist.get_rank() if world_size > 1 else 0, world_size, device)
    finally:
        if world_size > 1:
            dist.destroy_process_group()


class Precision:
    """Mixed precision: in bfloat16 where the GPU has it, else in float16; none on a CPU."""

    def __init__(self, asked: str, device: torch.device) -> None:
        if asked == "auto" and device.type == "cuda":
            asked = "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
        self.name = "float32" if asked == "auto" else asked
        self._device = device.type
        # Small gradients vanish in float16, unless the loss is scaled up.
        self.scaler = torch.amp.GradScaler(device.type, enabled=self.name == "float16")

    def autocast(self) -> torch.autocast:
        """Return a context in which layers choose their precision."""
        dtype: torch.dtype = getattr(torch, self.name)
        return torch.autocast(self._device, dtype=dtype, enabled=dtype != torch.float32)


class Training:
    """A training that can be stopped after any batch and resumed with the next one."""

    def __init__(
        self, model: nn.Module, loader: ps.Loader, process: Process, args: argparse.Namespace
    ) -> None:
        if not len(loader):
            raise SystemExit(f"{loader}: fewer images than a batch has. Lower --batch-size.")
        self.model = model.to(process.device)
        self.loader = loader
        self.process = process
        self.args = args
        self.precision = Precision(args.precision, process.device)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
        self.epoch = 0
        self.step = 0  # batches since the start of the training
        self.losses: list[float] = []  # of this epoch's batches
        if args.resume:
            self.load(args.checkpoint)

    def run(
        self, loss_of: Callable[[nn.Module, Any], torch.Tensor], evaluate: Callable[[], str]
    ) -> None:
        """Train to the last epoch; `evaluate` says how good the model is after each of them."""
        self._say(f"{self.loader}, {self.process.device}, {self.precision.name}")
        model = self.model
        if self.process.world_size > 1:
            model = nn.parallel.DistributedDataParallel(model)
        while self.epoch < self.args.epochs:
            model.train()
            for batch in self.loader:
                self._learn(model, loss_of, batch)
                if self.step == self.args.stop_after:
                    self._save()
                    self._say(f"stopped after batch {self.step}; go on with --resume")
                    return
                if self.step % self.args.save_every == 0:
                    self._save()
            found = self._evaluate(evaluate)
            self.epoch += 1
            self._say(f"epoch {self.epoch}: loss {_mean(self.losses):.6f}, {found}")
            self.losses = []
            self._save()

    def _learn(
        self, model: nn.Module, loss_of: Callable[[nn.Module, Any], torch.Tensor], batch: Any
    ) -> None:
        # Dropout depends on the step alone, so that a resumed run repeats it.
        torch.manual_seed((self.args.seed << 40) + (self.step << 16) + self.process.rank)
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        with self.precision.autocast():
            loss = loss_of(model, batch)
        scaler = self.precision.scaler
        self.optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(self.optimizer)
        scaler.update()
        self.losses.append(self.process.total(loss.item())[0] / self.process.world_size)
        self.step += 1

    def _learning_rate(self) -> float:
        """Rise for a fifth of the training, then fall along a cosine; nothing to be saved."""
        done = (self.epoch + len(self.losses) / len(self.loader)) / self.args.epochs
        share = done / 0.2 if done < 0.2 else (1 + math.cos(math.pi * (done - 0.2) / 0.8)) / 2
        return float(self.args.lr * max(share, 0.01))

    @torch.no_grad()
    def _evaluate(self, evaluate: Callable[[], str]) -> str:
        self.model.eval()
        if self.process.world_size > 1:
            for buffer in self.model.buffers():  # each process has averaged over its own batches
                dist.broadcast(buffer, 0)
        with self.precision.autocast():
            return evaluate()

    def _save(self) -> None:
        """Write a checkpoint; the loader's part is a few integers, whatever the data set's size."""
        if not self.process.is_first:
            return
        state: dict[str, Any] = {name: part.state_dict() for name, part in self._parts().items()}
        state |= {"epoch": self.epoch, "step": self.step, "losses": self.losses}
        beside = self.args.checkpoint.with_suffix(".part")
        torch.save(state, beside)
        os.replace(beside, self.args.checkpoint)  # a checkpoint is whole or not there

    def load(self, path: Path) -> None:
        """Take up a checkpoint; the loader goes on with the batch after the last one it gave out.

        All processes read the same file, and their number may have changed since it was written.
        """
        state = torch.load(path, map_location="cpu", weights_only=True)
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        self.epoch, self.step, self.losses = state["epoch"], state["step"], state["losses"]

    def _parts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "optimizer": self.optimizer,
            "scaler": self.precision.scaler,
            "loader": self.loader,
        }

    def _say(self, text: str) -> None:
        if self.process.is_first:
            print(text, flush=True)


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
