"""The masks of COCO's objects are those that torchvision's CocoDetection gives, crowds included."""

import contextlib
import io
import json

import numpy as np
import pytest

from penstock import Loader, pack
from penstock import transforms as T

v2 = pytest.importorskip("torchvision.transforms.v2")
datasets = pytest.importorskip("torchvision.datasets")
pytest.importorskip("pycocotools")


@pytest.fixture(scope="module")
def packed_coco(coco_folder, tmp_path_factory):
    folder = coco_folder
    packed = tmp_path_factory.mktemp("coco") / "coco.pen"
    pack(folder / "instances.json", packed, images=folder / "images", progress=False)
    return folder, packed


def theirs(folder, transforms):
    with contextlib.redirect_stdout(io.StringIO()):
        data = datasets.CocoDetection(folder / "images", folder / "instances.json", None)
    data.transforms = transforms
    keys = {"image_id", "boxes", "masks"}
    wrapped = datasets.wrap_dataset_for_transforms_v2(data, target_keys=keys)
    targets = (wrapped[index][1] for index in range(len(wrapped)))
    return {target["image_id"]: target for target in targets}


@pytest.mark.filterwarnings("ignore:__array__ implementation")
@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (None, None),
        (
            [T.Pad(7), T.CenterCrop((300, 350)), T.RandomHorizontalFlip(1.0)],
            [v2.Pad(7), v2.CenterCrop((300, 350)), v2.RandomHorizontalFlip(1.0)],
        ),
    ],
    ids=["as they are", "padded, cropped and mirrored"],
)
def test_masks_are_torchvisions(packed_coco, ours, expected):
    folder, packed = packed_coco
    known = theirs(folder, None if expected is None else v2.Compose(expected))
    transform = None if ours is None else T.Compose(ours)
    seen = 0
    for _, targets in Loader(packed, transform=transform, masks=True, batch_size=8, output="numpy"):
        for target in targets:
            other = known[target["image_id"]]
            if "masks" not in other:  # torchvision gives images without objects nothing
                assert len(target["masks"]) == 0
                continue
            np.testing.assert_array_equal(target["masks"], other["masks"].numpy())
            seen += len(target["masks"])
    assert seen == len(json.loads((folder / "instances.json").read_text())["annotations"]) > 80
