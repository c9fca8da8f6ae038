"""The pipelines of examples/pipelines give what Pillow gives, and are the same as torchvision's."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from forced_draws import drawn_by, forced
from penstock import Loader
from penstock.cli.main import main

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "examples" / "pipelines").glob("*.py"))
WITH_BOXES = ("torchvision_ssd", "torchvision_ssdlite")
WITH_MASKS = ("medical", "torchvision_segmentation_train")
OF_LARGE_PHOTOS = ("large_photos", "satellite_tiles")
LEAST_SIDE_PX = 2048  # of the photos that large crops are cut from
# Values between 0 and 1, divided by a deviation of 0.224 or more: what one level of 255 becomes.
LEVEL = 1 / 255 / 0.224 * 1.001
# How far the reference may be: it sums blurs in another order, and has its own logarithms.
NEAR = {
    "dino": LEVEL,
    "medical": 3 * LEVEL,  # one level, which the jitter behind it twice multiplies by up to 1.2
    "simclr": LEVEL,
    "timm_train": 1e-5,  # noise is not rounded to levels
}
# torchvision's lists that the loader does not take: a colour for masks is Loader(mask_fill=...),
# and bending is not the same to the bit.
NOT_TRANSLATED = ("medical", "torchvision_segmentation_train")
# These draw nothing that torchvision cannot be made to take from us.
DRAWN_FOR_TORCHVISION = (
    *("large_photos", "satellite_tiles", "timm_eval"),
    *("torchvision_classification_eval", "torchvision_classification_train"),
)
# Share of the pixels of masks that may differ: torchvision takes the nearest pixel of a tensor by
# another rule than Pillow's, which moves edges by one pixel.
MASKS_APART = 0.05


@pytest.fixture(scope="module")
def photos_with_masks(in1k, tmp_path_factory):
    """Photos and masks of three classes, as files of the same names."""
    folder = tmp_path_factory.mktemp("masks")
    rng = np.random.default_rng(0)
    for part in ("images", "masks"):
        (folder / part).mkdir()
    for number, path in enumerate(in1k[:12]):
        image = PIL.Image.open(path).convert("RGB")
        coarse = PIL.Image.fromarray(rng.integers(0, 3, (9, 9), dtype=np.uint8))
        coarse.resize(image.size, PIL.Image.Resampling.NEAREST).save(
            folder / "masks" / f"{number}.png"
        )
        (folder / "images" / f"{number}.jpg").symlink_to(path.resolve())
    return folder


@pytest.fixture
def data(name, pipeline, in1k, large, coco_folder, photos_with_masks):
    """Data that the pipeline takes: a few samples of those that tests have."""
    if name in WITH_BOXES:
        return {"data": coco_folder / "instances.json", "indices": range(12)}
    if name in WITH_MASKS:
        return {"data": photos_with_masks, "mask_fill": getattr(pipeline, "IGNORED", 0)}
    if name in OF_LARGE_PHOTOS:
        enough = [path for path in large if min(PIL.Image.open(path).size) >= LEAST_SIDE_PX]
        return {"data": enough[:2]}
    return {"data": in1k[:24]}


@pytest.fixture
def pipeline(name):
    return importlib.import_module(f"examples.pipelines.{name}")


@pytest.fixture
def on_disk(name, data, tmp_path):
    """The same data as a path for the command line."""
    given = data["data"]
    if not isinstance(given, list):
        return str(given)
    for path in given:
        (tmp_path / path.name).symlink_to(path.resolve())
    return str(tmp_path)


def images_and_rest(data, transform, **options):
    """All arrays of an epoch: images of each batch, and what came with them."""
    loader = Loader(**data, transform=transform, batch_size=4, seed=7, output="numpy", **options)
    arrays = []
    for batch in loader:
        _gather(batch, arrays)
    return arrays


def _gather(part, arrays):
    if isinstance(part, (list, tuple)):
        for each in part:
            _gather(each, arrays)
    elif isinstance(part, dict):
        for key in sorted(part):
            _gather(part[key], arrays)
    else:
        arrays.append(np.array(part))


def assert_same(got, expected, most=0.0):
    """Equal arrays; those of floating point may differ by `most`, in few places."""
    assert len(got) == len(expected) > 0
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if most and one.dtype == np.float32:
            difference = np.abs(one - other)
            assert difference.max() <= most
            assert (difference > 1e-5).mean() < 0.01
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_planned_is_what_pillow_makes_of_it(name, pipeline, data):
    planned = images_and_rest(data, pipeline.transform)

    assert_same(planned, images_and_rest(data, pipeline.transform, plan=False))
    by_pillow = images_and_rest(data, pipeline.transform, backend="pillow")
    assert_same(planned, by_pillow, NEAR.get(name, 0.0))


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_plans_and_explains_it(name, on_disk, capsys):
    place = f"{ROOT / 'examples' / 'pipelines' / name}.py:transform"
    assert main(["plan", on_disk, "--transform", place]) == 0
    told = capsys.readouterr().out
    assert re.search(r"us|ms per image as written, .* as planned \(\d\.\d\dx\): predicted", told)
    assert re.search(r"^as written +from +on$", told, flags=re.MULTILINE)
    assert re.search(r"^(as planned:|as planned +from +on$)", told, flags=re.MULTILINE)
    assert not re.search(r"\s(\?|-\d|nan\b|inf\b)", told), told  # nobody's moves, odd numbers
    assert len(told.splitlines()) < 120

    assert main(["plan", on_disk, "--transform", place, "--fidelity", "fast", "--json"]) == 0
    fast = json.loads(capsys.readouterr().out)
    assert 0 < fast["planned_us"] <= 1.01 * fast["written_us"]
    assert {rule["fidelity"] for rule in fast["rules"]} <= {"exact", "fast"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_TRANSLATED])
def test_torchvisions_list_is_the_same(torchvision, pipeline, data, name):
    """A loader reads torchvision's transforms as ours of the same names, arguments and draws."""
    if name.startswith("timm"):
        pytest.importorskip("timm")
    theirs = pipeline.torchvision_transform()
    for ours, other in zip(views_of(pipeline.transform), views_of(theirs), strict=True):
        expected = images_and_rest(data, other)
        assert_same(images_and_rest(data, ours), expected, NEAR.get(name, 0.0))


def views_of(transform):
    """What a MultiView and a list of transforms hold; one transform is one view."""
    if isinstance(transform, list):
        return transform
    return getattr(transform, "views", [transform])


@pytest.mark.parametrize("name", sorted({*DRAWN_FOR_TORCHVISION, *NOT_TRANSLATED}))
def test_torchvision_makes_the_same_of_the_same_draws(torchvision, pipeline, data, name):
    """Its transforms, with what the loader drew for each sample."""
    import torch

    loader = Loader(**data, transform=pipeline.transform, seed=7, output="torch")
    transform = pipeline.torchvision_transform()
    files = _files(data["data"])
    for sample, (batch, inputs) in enumerate(zip(loader, map(_read, files), strict=True)):
        width, height = inputs[0].size
        drawn = drawn_by(loader.plan, (height, width), seed=7, epoch=0, sample=sample)
        with forced(transform.transforms, drawn):
            expected = transform(*inputs)
        got = batch if isinstance(batch, tuple) else (batch,)
        expected = expected if isinstance(expected, tuple) else (expected,)
        images, *masks = (part[0].numpy() for part in got)
        their_images, *their_masks = (part.numpy() for part in expected)
        assert_same([images], [their_images], NEAR.get(name, 0.0))
        for mask, other in zip(masks, their_masks, strict=True):
            assert (mask != other[0]).mean() < MASKS_APART
    assert torch.is_tensor(expected[0])


def _files(data):
    """An image for each sample, and perhaps a mask."""
    if isinstance(data, list):
        return [(path,) for path in data]
    images = sorted((data / "images").iterdir())
    return [(path, data / "masks" / f"{path.stem}.png") for path in images]


def _read(files):
    from torchvision import tv_tensors
    from torchvision.transforms.v2.functional import pil_to_tensor

    image, *masks = (PIL.Image.open(file) for file in files)
    return image.convert("RGB"), *(tv_tensors.Mask(pil_to_tensor(mask)) for mask in masks)
