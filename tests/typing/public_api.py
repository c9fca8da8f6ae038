"""What a type checker should see of the public names; checked by mypy, never run."""

from collections.abc import Iterator
from pathlib import Path

from typing_extensions import assert_type

import penstock as ps
from penstock import transforms as T
from penstock.torch import DataLoader, Dataset, keep_native

pipeline = T.Compose([T.RandomResizedCrop(224), T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)])
assert_type(pipeline, T.Compose)

loader = ps.Loader(Path("photos"), batch_size=64, transform=pipeline, shuffle=True, seed=0)
assert_type(loader, ps.Loader)
assert_type(len(loader), int)

state = loader.state_dict()
loader.load_state_dict(state)
loader.set_epoch(3)

for images, labels in loader:
    assert len(images) == len(labels)

mixes = T.RandomChoice([T.MixUp(alpha=0.2, num_classes=10), T.CutMix(num_classes=10)])
assert_type(ps.Loader("photos", transform=pipeline, batch_transform=mixes), ps.Loader)

assert_type(str(ps.explain(loader, measure=True)), str)
assert_type(ps.explain([print], images=["a.jpg"], allow=("crop_before_warp",)).code, str)

watched = ps.watch(loader, callback=lambda step, scalars: scalars["input/wait_ms"] * step)
for images, labels in watched:
    assert len(images) == len(labels)
assert_type(str(watched.report()), str)

found = ps.analyze(loader, device="emulated:1000", effort=ps.Effort(rounds=1, seconds=0.1))
assert_type(found, ps.Analysis)
assert_type(found.to_html(), str)
found.to_html("report.html", before=ps.Analysis.from_json("before.json"))


samples = Dataset("photos", transform=pipeline, seed=1)
assert_type(len(samples), int)
assert_type(samples.classes, tuple[str, ...] | None)
torch_loader = DataLoader(samples, batch_size=8, shuffle=True, seed=2)
for images, labels in torch_loader:
    assert len(images) == len(labels)
torch_loader.load_state_dict(torch_loader.state_dict())
assert_type(keep_native(torch_loader, torch_loader), DataLoader)


class Orders:
    """A source of samples of one's own."""

    columns = (ps.Column("label", "fixed", "int64"),)
    classes = ("broken", "whole")
    box_classes = None
    length = 1

    def items(self, start: int = 0) -> Iterator[ps.PackItem]:
        """Yield the samples."""
        yield from [ps.PackItem("a.jpg", Path("a.jpg"), {"label": 1})][start:]

    def describe(self) -> str:
        """Say what it is."""
        return "an order"


assert_type(ps.pack(Orders(), "orders.pen").samples, int)

assert_type(ps.__version__, str)
error: ps.PenstockError = ps.PenstockError("where: what was got. What to do.")
