"""Train a toy detector on batches in the form that trainers of YOLO take.

Run:  python examples/yolo_batches.py
"""

from __future__ import annotations

import tempfile

import torch
from torch import Tensor, nn

import penstock as ps
from penstock import transforms as T

SIDE, CELLS = 128, 8  # pixels, and cells of the grid on which objects are found


class GridDetector(nn.Module):
    """Says for each cell whether an object's middle is in it, which box it has, and its class."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(layer for pair in zip((3, 8, 16, 32), (8, 16, 32, 32), strict=True)
              for layer in (nn.Conv2d(*pair, 3, stride=2, padding=1), nn.ReLU())),
            nn.Conv2d(32, 1 + 4 + classes, 1),
        )  # fmt: skip

    def forward(self, img: Tensor) -> Tensor:
        """Return (batch, cells, cells, 1 + 4 + classes)."""
        found: Tensor = self.layers(img.float() / 255)
        return found.permute(0, 2, 3, 1)


def loss_of(found: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """Compare what was found with the objects, each in the cell of its middle."""
    image, boxes = batch["batch_idx"].long(), batch["bboxes"]
    across, down = (boxes[:, :2] * CELLS).long().clamp(0, CELLS - 1).T
    is_object = torch.zeros(found.shape[:3])
    is_object[image, down, across] = 1
    seen = nn.functional.binary_cross_entropy_with_logits(found[..., 0], is_object)
    at_objects = found[image, down, across]
    place = nn.functional.l1_loss(at_objects[:, 1:5], boxes)
    kind = nn.functional.cross_entropy(at_objects[:, 5:], batch["cls"][:, 0].long())
    return seen + place + kind


def main() -> None:
    """Train for two epochs on drawn scenes."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        scenes = ps.make_shape_scenes(folder, train=24, test=1)
        loader = ps.Loader(
            scenes / "annotations" / "instances_train.json",
            batch_size=8,
            shuffle=True,
            targets="yolo",
            transform=T.Compose([T.RandomHorizontalFlip(), T.LetterBox(SIDE)]),
        )
        print(loader)
        model = GridDetector(len(loader.classes or ()))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for epoch in range(2):
            losses = []
            for batch in loader:
                loss = loss_of(model(batch["img"]), batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}")
        loader.close()


if __name__ == "__main__":
    main()
