"""Train with JAX on a pipeline of Grain's, stop in the middle of an epoch, and go on.

Run:  python examples/grain_pipeline.py
"""

from __future__ import annotations

import tempfile
from typing import Any

import grain
import jax
import jax.numpy as jnp

import penstock as ps
import penstock.grain
from penstock import transforms as T

SIDE, CLASSES, EPOCHS = 32, 8, 3


def loss_of(weights: Any, images: Any, labels: Any) -> Any:
    """The mean loss of a linear classifier."""
    scores = images.reshape(len(images), -1) @ weights
    return -(jax.nn.log_softmax(scores) * jax.nn.one_hot(labels, CLASSES)).sum(axis=1).mean()


@jax.jit
def step(weights: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    """One step of gradient descent."""
    loss, slope = jax.value_and_grad(loss_of)(weights, images, labels)
    return weights - 1e-3 * slope, loss


def make_dataset(source: penstock.grain.Source) -> grain.IterDataset:
    """Let Grain order the samples, and decode whole batches of them."""
    return (
        source.samples()
        .shuffle(seed=7)
        .repeat(EPOCHS)
        .batch(8, drop_remainder=True, batch_fn=source.read)
        .to_iter_dataset()
    )


def train(weights: Any, batches: Any, most: int) -> tuple[Any, list[float]]:
    """Train on so many batches, or until there are no more."""
    losses: list[float] = []
    for batch in batches:
        weights, loss = step(weights, batch["image"], batch["label"])
        losses.append(float(loss))
        if len(losses) == most:
            break
    return weights, losses


def main() -> None:
    """Train at once, and in two halves: the losses are the same."""
    with tempfile.TemporaryDirectory() as folder:
        photos = ps.make_sample_set(folder, images=40)
        transform = T.classification(SIDE)
        source = penstock.grain.Source(photos, transform=transform, seed=7, layout="hwc")
        print(source)
        zeros = jnp.zeros((SIDE * SIDE * 3, CLASSES))
        _, whole = train(zeros, iter(make_dataset(source)), most=100)

        batches = iter(make_dataset(source))
        weights, first = train(zeros, batches, most=7)
        state = batches.get_state()
        print(f"stopped after batch {len(first)}: {state}")
        again = iter(make_dataset(source))
        again.set_state(state)
        _, rest = train(weights, again, most=100)
        print(f"losses: {', '.join(f'{loss:.3f}' for loss in [*first, *rest])}")
        print(f"the same as without a stop: {first + rest == whole}")


if __name__ == "__main__":
    main()
