"""What a type checker should see of the public names; checked by mypy, never run."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
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

past = loader.batch_at(3, 1207, rank=1, world_size=8)
assert_type(past, ps.PastBatch)
assert_type(past.names, tuple[str, ...])
assert_type(past.drawn[0][0].words, str)
assert_type(past.describe(), str)

buckets = ps.BucketBatches.by_area(512 * 512, pixels=2**22)
assert_type(ps.Loader("photos", transform=pipeline, sampling=buckets), ps.Loader)
assert_type(list(buckets.bind("photos")), list[list[int]])
assert_type(list(ps.ClassBalanced(power=0.5).bind([0, 1, 1])), list[int])
assert_type(list(ps.RepeatedAugmentation(3).bind(1000)), list[int])
for train, valid in ps.k_fold("photos", 5, seed=0):
    assert_type(len(train) + len(valid), int)

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


certified = ps.certify(loader, "photos.pen", transform_b=pipeline, images="all", tolerance=1)
assert_type(certified, ps.Certification)
assert_type(certified.equal, bool)
assert_type(certified.verdict, str)
assert_type(certified.certificate, ps.Certificate)
assert_type(ps.make_certificate("photos", transform=pipeline).content, str)
ps.Certificate.read("a.json").save("b.json")

samples = Dataset("photos", transform=pipeline, seed=1)
assert_type(len(samples), int)
assert_type(samples.classes, tuple[str, ...] | None)
torch_loader = DataLoader(samples, batch_size=8, shuffle=True, seed=2)
for images, labels in torch_loader:
    assert len(images) == len(labels)
torch_loader.load_state_dict(torch_loader.state_dict())
assert_type(torch_loader.batch_at(0, 1), ps.PastBatch)
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

hugging = ps.from_hf(object(), label=False, columns=["caption"], box_format="xywh")
assert_type(len(hugging), int)
names = {"image": "pixel_values", "label": "labels"}
assert_type(ps.Loader(hugging, as_dict=names, output="jax"), ps.Loader)
assert_type(T.LetterBox(640, fill=114), T.LetterBox)
photo = Image.new("RGB", (8, 8))
pixels: npt.NDArray[np.uint8] = np.zeros((8, 8, 3), dtype=np.uint8)
assert_type(T.functional.resize(photo, (4, 4), interpolation="bicubic"), Image.Image)
assert_type(T.functional.rotate(pixels, 30, fill=(1, 2, 3)), npt.NDArray[np.uint8])
assert_type(T.functional.get_size(photo), list[int])
