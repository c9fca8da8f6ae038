"""Find out which images made the loss jump: log it, then make the worst batch again.

The data set has two colours, and a few files lie in the wrong folder. The loop knows nothing of
that; it notes the loss of every step. Nothing else has to be logged: a batch follows from the
seed, the epoch and the step.

Run:  python examples/loss_jump.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn

import penstock as ps
from penstock import transforms as T

FOLDER = Path("colours")
COLOURS = {"blue": (60, 70, 190), "red": (190, 70, 60)}
IMAGES = 60  # of each colour
WRONG = 2  # of them, in the other folder
EPOCHS = 4


def make_data(folder: Path) -> None:
    """Write small noisy pictures into a folder for each colour."""
    rng = np.random.default_rng(0)
    other = dict(zip(COLOURS, reversed(COLOURS), strict=True))
    for name, colour in COLOURS.items():
        for number in range(IMAGES):
            home = folder / (other[name] if number < WRONG else name)
            home.mkdir(parents=True, exist_ok=True)
            pixels = np.array(colour) + rng.integers(-50, 50, (48, 64, 3))
            Image.fromarray(pixels.astype(np.uint8)).save(home / f"{name}_{number:02}.jpg")


def make_loader() -> ps.Loader:
    """Return the loader; `penstock show` calls this, too."""
    transform = T.Compose(
        [
            T.RandomResizedCrop(32),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.2, 0.2),
            T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD),
        ]
    )
    return ps.Loader(FOLDER, batch_size=12, transform=transform, shuffle=True, seed=5)


def main() -> None:
    """Train, look for the worst step, and say what was in it."""
    make_data(FOLDER)
    loader = make_loader()
    torch.manual_seed(0)
    model = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses: dict[tuple[int, int], float] = {}
    for epoch in range(EPOCHS):
        for step, (images, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[epoch, step] = loss.item()

    learned = {place: loss for place, loss in losses.items() if place[0] == EPOCHS - 1}
    epoch, step = max(learned, key=lambda place: learned[place])
    print(f"the loss jumped in epoch {epoch} at step {step}: {learned[epoch, step]:.2f}")

    past = loader.batch_at(epoch, step)
    images, labels = past.batch  # exactly what the loop got
    with torch.no_grad():
        each = nn.functional.cross_entropy(model(images), labels, reduction="none")
    worst = int(each.argmax())
    print(f"worst image: {past.names[worst]}, labelled {past.label_words(worst)}")
    for drawn in past.drawn[worst]:
        print(f"  {drawn.op} on {drawn.saw}: {drawn.words}")
    print("see all of it:")
    print(f"  penstock show examples/loss_jump.py:make_loader --epoch {epoch} --step {step}")


if __name__ == "__main__":
    main()
