"""Train with JAX on two devices, each of which gets its part of every batch.

Run:  python examples/jax_two_devices.py

The two devices are made of this machine's CPU, so that the example runs anywhere. With several
processes, each makes its own loader and gives JAX its part of the batch, in the same lines.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

# Before JAX is imported: with accelerators, leave out both lines.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

import penstock as ps
from penstock import transforms as T

SIDE, BATCH, CLASSES = 32, 8, 8

Weights = dict[str, Any]


def loss_of(weights: Weights, images: Any, labels: Any) -> Any:
    """The mean loss of a linear classifier."""
    scores = images.reshape(len(images), -1) @ weights["matrix"] + weights["bias"]
    return -(jax.nn.log_softmax(scores) * jax.nn.one_hot(labels, CLASSES)).sum(axis=1).mean()


@jax.jit
def step(weights: Weights, images: Any, labels: Any) -> tuple[Weights, Any]:
    """One step; JAX spreads it over the devices that hold the images."""
    loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
    return jax.tree.map(lambda old, slope: old - 1e-3 * slope, weights, slopes), loss


def main() -> None:
    """Train for three epochs."""
    mesh = jax.make_mesh((jax.device_count(),), ("batch",))
    split, everywhere = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (["batch"], []))
    with tempfile.TemporaryDirectory() as folder:
        loader = ps.Loader(
            ps.make_sample_set(folder, images=40),
            batch_size=BATCH // jax.process_count(),
            shuffle=True,
            drop_last=True,  # batches of one size: JAX compiles the step once
            layout="hwc",
            transform=T.classification(SIDE),
            output="jax",
            rank=jax.process_index(),
            world_size=jax.process_count(),
        )
        print(loader)
        weights = {"matrix": jnp.zeros((SIDE * SIDE * 3, CLASSES)), "bias": jnp.zeros(CLASSES)}
        weights = jax.device_put(weights, everywhere)
        for epoch in range(3):
            losses = []
            for batch in loader:
                images, labels = jax.make_array_from_process_local_data(split, batch)
                weights, loss = step(weights, images, labels)
                losses.append(loss)
            print(f"epoch {epoch}: loss {float(sum(losses)) / len(losses):.3f}")
        shares = {str(part.device): part.data.shape for part in images.addressable_shards}
        print(f"each device has its part of a batch: {shares}")
        loader.close()


if __name__ == "__main__":
    main()
