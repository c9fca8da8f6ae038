"""What is said to have been drawn, done by hand with Pillow, gives the image of the batch."""

import json
import math

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

import penstock as ps
from past_batches import CHOICE, CROPS, ENDED, VIEWS, make, turn
from penstock import transforms as T

tv = pytest.importorskip("torchvision.transforms.v2.functional")

FILTERS = {"nearest": 0, "bilinear": 2, "bicubic": 3}


def move(image, told):
    """One move by Pillow, or by torchvision where that is how Pillow is called."""
    kind = told["move"]
    if kind == "crop":
        return image.crop(tuple(told[side] for side in ("left", "top", "right", "bottom")))
    if kind == "resize":
        assert told["from"] == [image.height, image.width]
        return image.resize((told["width"], told["height"]), FILTERS[told["filter"]])
    if kind == "flip":
        image = PIL.ImageOps.mirror(image) if told["horizontal"] else image
        return PIL.ImageOps.flip(image) if told["vertical"] else image
    if kind == "pad":
        sides = [told[side] for side in ("left", "top", "right", "bottom")]
        return tv.pad(image, sides, fill=told["fill"], padding_mode=told["mode"])
    if kind in ("brightness", "contrast", "saturation", "hue", "sharpness"):
        return getattr(tv, f"adjust_{kind}")(image, told["factor"])
    if kind == "erase":
        assert not told["by_noise"]
        pixels = np.array(image)
        box = slice(told["top"], told["bottom"]), slice(told["left"], told["right"])
        pixels[box] = told["value"]
        return PIL.Image.fromarray(pixels)
    plain = {"equalize": tv.equalize, "autocontrast": tv.autocontrast, "invert": tv.invert}
    if kind in plain:
        return plain[kind](image)
    if kind == "posterize":
        return tv.posterize(image, told["bits"])
    if kind == "solarize":
        return tv.solarize(image, told["threshold"])
    return tv.rgb_to_grayscale(image, 3) if kind == "grayscale" else None


def warp(image, step):
    """What is drawn by name and not by moves: angles, shears and the like."""
    name = step["op"]
    told = {key: value for one in step["drawn"] for key, value in one.items()}
    if "corners" in told:
        right, bottom = image.width - 1, image.height - 1
        own = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        return tv.perspective(
            image, own, told["corners"], interpolation=tv.InterpolationMode.BILINEAR
        )
    if "scale" in told:
        shift = [int(told["translate_x"]), int(told["translate_y"])]
        return tv.affine(
            image, told["angle"], shift, told["scale"], [told["shear_x"], told["shear_y"]]
        )
    if "angle" in told:
        return tv.rotate(image, told["angle"], expand=step["saw"] != step["gave"])
    amount = told["magnitude"]
    if name == "Rotate":
        return tv.rotate(image, amount)
    if name.startswith("Shear"):
        degrees = math.degrees(math.atan(amount))
        shear = [degrees, 0.0] if name == "ShearX" else [0.0, degrees]
        return tv.affine(image, 0.0, [0, 0], 1.0, shear, center=[0, 0])
    shift = [int(amount), 0] if name == "TranslateX" else [0, int(amount)]
    return tv.affine(image, 0.0, shift, 1.0, [0.0, 0.0])


def by_hand(image, steps):
    """An image after steps, of which only what JSON holds is known."""
    for step in steps:
        assert step["saw"] == [image.height, image.width], step["op"]
        inner = [one for one in step["drawn"] if "op" in one]
        if inner:
            image = by_hand(image, inner)
        elif any(one["move"] in ("affine", "perspective") for one in step["moves"]):
            image = warp(image, step)
        else:
            for told in step["moves"]:
                image = move(image, told)
        assert step["gave"] == [image.height, image.width], step["op"]
    return image


LISTS = {
    "crops": [T.RandomCrop(30, padding=4, fill=9), T.RandomResizedCrop(20), T.CenterCrop((24, 16))],
    "flips": [T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.Resize((21, 17))],
    "fused": [
        T.Resize(40),
        T.ColorJitter(0.4, 0.4, 0.4, 0.2),
        T.RandomCrop(25),
        T.RandomHorizontalFlip(),
        T.RandomGrayscale(0.4),
        T.RandomResizedCrop(16),
    ],
    "borders": [T.RandomZoomOut(fill=7), T.Pad((1, 2, 3, 4), padding_mode="symmetric")],
    "rotations": [T.Resize((32, 40)), T.RandomRotation(50), T.RandomRotation(170, expand=True)],
    "affine": [T.Resize((32, 40)), T.RandomAffine(30, (0.2, 0.1), (0.5, 1.5), (-9, 9, -8, 8))],
    "perspective": [T.Resize((32, 40)), T.RandomPerspective(0.4)],
    "photometric": [T.RandomPosterize(3), T.RandomSolarize(99.0), T.RandomAdjustSharpness(1.7)],
    "levels": [T.RandomInvert(), T.RandomEqualize(), T.RandomAutocontrast()],
    "containers": [
        T.RandomApply([T.RandomCrop(28), T.RandomHorizontalFlip()], 0.6),
        T.RandomChoice([T.Resize((24, 20)), T.ColorJitter(0.5), T.RandomInvert(1.0)]),
        T.RandomOrder([T.RandomSolarize(80.0), T.RandomPosterize(2), T.RandomVerticalFlip()]),
    ],
    "randaugment": [T.Resize((32, 40)), T.RandAugment(3, 12)],
    "trivialaugment": [T.TrivialAugmentWide()],
    "autoaugment": [T.Resize((32, 40)), T.AutoAugment()],
    "autoaugment of digits": [T.AutoAugment("svhn")],
    "erasing": [T.Resize((32, 40)), T.RandomErasing(0.7, value=(1, 2, 3))],
}


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_by_hand(folder, listed, backend):
    transform = T.Compose([*listed, T.Resize((20, 20))])
    loader = make(folder, transform=transform, batch_size=23, layout="hwc", backend=backend)
    past = loader.batch_at(3, 0)
    told = json.loads(json.dumps(past.to_dict()))
    for image, found, name in zip(told["images"], past.batch[0], past.names, strict=True):
        steps = image["drawn"]
        assert [step["op"] for step in steps] == [type(op).__name__ for op in transform.transforms]
        assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
        with PIL.Image.open(folder / name) as opened:
            np.testing.assert_array_equal(found, by_hand(opened.convert("RGB"), steps))


def test_views_and_functions(folder):
    loader = make(folder, transform=VIEWS, layout="hwc")
    past = loader.batch_at(1, 1)
    for position, (name, steps) in enumerate(zip(past.names, past.drawn, strict=True)):
        assert [one.view for one in steps] == [None, 1, 2, 3, 3, 3]
        assert [one.step for one in steps] == [1, 2, 3, 4, 5, 6]
        for view in range(2):
            own = [one.to_dict() for one in steps if one.view in (None, view + 1)]
            with PIL.Image.open(folder / name) as opened:
                np.testing.assert_array_equal(
                    past.batch[0][view][position], by_hand(opened.convert("RGB"), own)
                )


def test_functions_say_their_sizes(folder):
    last = T.Compose([T.RandomCrop((30, 20)), turn])
    past = make(folder, transform=T.Compose([last, T.Resize((9, 9))])).batch_at(0, 0)
    for crop, call, resize in past.drawn:
        assert str(crop.gave) == str(call.saw) == "30x20"
        assert call.gave == resize.saw
        assert str(call.gave) in ("30x20", "20x30")
        assert call.words == "your function, with a generator for this sample"
    alone = make(
        folder, transform=T.Compose([T.Resize((9, 7)), lambda image: image.rotate(90, expand=True)])
    )
    assert str(alone.batch_at(0, 0).drawn[0][1].gave) == "7x9"


@pytest.mark.parametrize("reuse", [ps.Reuse(3), ps.Echo(3, window=5)], ids=["reuse", "echo"])
def test_what_is_kept_has_the_draws_it_had(folder, reuse):
    transform = T.Compose([T.RandomResizedCrop(16), T.RandomHorizontalFlip(), T.ColorJitter(0.3)])
    loader = make(folder, transform=transform, reuse=reuse, batch_size=23, layout="hwc")
    crops: dict[str, set[str]] = {}
    for epoch in range(3):
        past = loader.batch_at(epoch, 0)
        for name, found, steps in zip(past.names, past.batch[0], past.drawn, strict=True):
            with PIL.Image.open(folder / name) as opened:
                hand = by_hand(opened.convert("RGB"), [one.to_dict() for one in steps])
            np.testing.assert_array_equal(found, hand)
            crops.setdefault(name, set()).add(steps[0].words)
    seen = sum(map(len, crops.values()))
    assert seen < 3 * 23


def test_mixing(folder):
    mixed = make(folder, batch_transform=CHOICE, layout="hwc")
    plain = make(folder, layout="hwc")
    for step in range(5):
        past, before = mixed.batch_at(0, step), plain.batch_at(0, step).batch[0]
        for position, steps in enumerate(past.drawn):
            last, told = steps[-1], steps[-1].drawn[0]
            other = before[told["partner"]]
            assert past.samples[told["partner"]] == told["partner_sample"]
            if last.op == "MixUp":
                share = np.float32(told["own_share"])
                expected = other * (np.float32(1) - share) + before[position] * share
                np.testing.assert_allclose(past.batch[0][position], expected, atol=1e-5)
            else:
                expected = before[position].copy()
                left, top, right, bottom = told["pasted_box"]
                expected[top:bottom, left:right] = other[top:bottom, left:right]
                np.testing.assert_array_equal(past.batch[0][position], expected)


def test_levels_are_the_images_before_they_were_normalised(folder):
    for options in ({}, {"dtype": "bfloat16", "output": "torch"}, {"dtype": "float16"}):
        ended = make(
            folder, transform=T.Compose([CROPS, T.Normalize((0.5,) * 3, (0.2,) * 3)]), **options
        )
        past, plain = (
            ended.batch_at(0, 0),
            make(folder, transform=CROPS, layout="hwc").batch_at(0, 0),
        )
        for position, image in enumerate(plain.batch[0]):
            most = np.abs(past.pixels(position).astype(int) - image).max()
            assert most <= (0 if not options else 1)


def test_the_table(folder):
    past = make(folder, transform=ENDED).batch_at(2, 1)
    head, columns, first, *rest = str(past).splitlines()
    assert head == "epoch 2, step 1: 4 images"
    assert columns.split() == ["sample", "file", "label", "size", "transform", "drawn"]
    assert first.split()[1:4] == [str(past.samples[0]), past.names[0], past.label_words(0)]
    place = columns.index("transform")
    assert {line[place - 1] for line in (first, *rest)} == {" "}
    assert [line[place:].split()[0] for line in (first, *rest)][:4] == [
        "RandomResizedCrop",
        "RandomHorizontalFlip",
        "ColorJitter",
        "RandomErasing",
    ]
    assert repr(past) == "PastBatch(epoch 2, step 1: 4 images; print it to see what was drawn)"
