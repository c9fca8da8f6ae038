"""Albumentations: the pixels, labels and order of the DataLoader, natively or as Python."""

import numpy as np
import pytest
from PIL import Image

import penstock
from forced_draws import drawn_by
from penstock.loading.sampler import Order
from tests.translation.accelerate.reading import accelerate

cv2 = pytest.importorskip("cv2")
A = pytest.importorskip("albumentations")
SEED = 3


def assert_same(theirs, **options):
    import torch

    ours = accelerate(theirs, **options)
    assert len(ours) == len(theirs)
    for batch, expected in zip(ours, theirs, strict=True):
        for mine, other in zip(_parts(batch), _parts(expected), strict=True):
            assert mine.dtype == other.dtype
            assert torch.equal(mine, other)
    return ours.translation


def _parts(batch):
    return list(batch.values()) if isinstance(batch, dict) else batch


NATIVE = {
    "middle": lambda: [A.CenterCrop(33, 36)],
    "middle with a border": lambda: [A.CenterCrop(70, 64, pad_if_needed=True, fill=(1, 2, 3))],
    "fixed": lambda: [A.Crop(3, 5, 30, 37)],
    "flips": lambda: [A.CenterCrop(32, 32), A.HorizontalFlip(p=1), A.VerticalFlip(p=1)],
    "borders": lambda: [A.PadIfNeeded(91, 92, fill=7), A.CenterCrop(90, 92)],
    "repeated edges": lambda: [
        A.PadIfNeeded(95, 95, border_mode=cv2.BORDER_REPLICATE, position="bottom_left"),
        A.CenterCrop(95, 95),
    ],
    "four sides": lambda: [A.CenterCrop(30, 31), A.Pad((1, 2, 3, 4), fill=9.0)],
    "nothing": lambda: [A.NoOp(), A.CenterCrop(30, 30), A.ColorJitter(p=0)],
    "inverted": lambda: [A.CenterCrop(30, 30), A.InvertImg(p=1)],
    "nested": lambda: [A.Compose([A.CenterCrop(32, 32), A.Sequential([A.VerticalFlip(p=1)], p=1)])],
    "normalized": lambda: [A.CenterCrop(32, 32), A.Normalize()],
    "one mean": lambda: [A.CenterCrop(32, 32), A.Normalize(mean=0.4, std=0.3)],
    "floats": lambda: [A.CenterCrop(32, 32), A.ToFloat(max_value=255)],
    "late moves": lambda: [A.Normalize(), A.CenterCrop(32, 32), A.HorizontalFlip(p=1)],
}


@pytest.mark.parametrize("name", NATIVE)
def test_what_the_core_does(load_arrays, name):
    translation = assert_same(load_arrays(*NATIVE[name]()))

    assert not translation.python_steps


PYTHON = {
    "resizes": lambda: [A.SmallestMaxSize(40), A.CenterCrop(32, 32)],
    "between": lambda: [A.CenterCrop(36, 36), A.Resize(20, 24), A.HorizontalFlip(p=1)],
    "in a row": lambda: [A.Resize(30, 33), A.CLAHE((2, 2), p=1), A.ToGray(p=1), A.Transpose(p=1)],
    "reflected": lambda: [
        A.PadIfNeeded(95, 95, border_mode=cv2.BORDER_REFLECT_101),
        A.CenterCrop(95, 95),
    ],
    "chosen": lambda: [A.Resize(30, 30), A.OneOf([A.HorizontalFlip(p=1)], p=1)],
    "normalized": lambda: [A.Resize(30, 33, interpolation=cv2.INTER_AREA), A.Normalize()],
}


@pytest.mark.parametrize("name", PYTHON)
def test_what_stays_albumentations(load_arrays, name):
    translation = assert_same(load_arrays(*PYTHON[name]()), threads=2)

    assert translation.python_steps
    assert all(line.microseconds > 0 for line in translation.python_steps)


def test_photos(load_arrays, in1k):
    """Real files, validated as on ImageNet."""
    steps = [A.SmallestMaxSize(256), A.CenterCrop(224, 224), A.Normalize()]
    assert_same(load_arrays(*steps, files=[str(path) for path in in1k[::9]]))


def test_the_recipes_of_the_benchmark(tv, folder):
    from benchmarks.accelerate.albumentations_recipes import ALBUMENTATIONS_RECIPES
    from benchmarks.accelerate.recipes import Setting

    for make in ALBUMENTATIONS_RECIPES.values():
        images, labels = next(iter(accelerate(make(Setting(folder, side_px=24)))))
        assert images.shape == (23, 3, 24, 24)
        assert sorted(labels.tolist()) == sorted(index % 10 for index in range(23))


def test_steps_in_a_row_are_one_call(load_arrays):
    loader = accelerate(load_arrays(*PYTHON["in a row"]()))

    assert len(loader.translation.python_steps) == 4
    assert len(loader.plan.segments) == 2


@pytest.mark.parametrize("kind", ["ByPillow", "InTwoSteps"])
def test_datasets_of_both_kinds(load_arrays, kind):
    assert_same(load_arrays(A.CenterCrop(32, 32), kind=kind))


def test_arrays_stay_arrays(load_arrays):
    """Without ToTensorV2, channels come last."""
    assert_same(load_arrays(A.CenterCrop(32, 30), end=False))
    assert_same(load_arrays(A.CenterCrop(32, 30), A.Normalize(), end=False))


def test_torchvision_goes_on(tv, folder):
    """An ImageFolder whose transform hands over to Albumentations, and takes back."""
    crop = A.Compose([A.CenterCrop(32, 32)])
    normalize = tv.v1.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))

    class Both:
        def __init__(self):
            self.before = tv.v1.Compose([tv.v1.Resize((40, 44))])
            self.after = tv.v1.Compose([tv.v1.ToTensor(), normalize])

        def __call__(self, image):
            return self.after(crop(image=np.array(self.before(image)))["image"])

    theirs = tv.data.DataLoader(tv.ImageFolder(str(folder), Both()), batch_size=4)

    assert not assert_same(theirs).python_steps


def test_a_lambda_in_between(tv, folder):
    crop = A.Compose([A.CenterCrop(32, 32), A.Normalize()])
    transform = lambda image: crop(image=np.array(image))["image"]  # noqa: E731  as users write it
    theirs = tv.data.DataLoader(tv.ImageFolder(str(folder), transform), batch_size=4)

    assert not assert_same(theirs).python_steps


def test_random_crops_and_flips(tv, load_arrays):
    """For the places and flips that were drawn here, theirs are the same pixels."""
    theirs = load_arrays(A.RandomCrop(30, 33), A.HorizontalFlip(), A.Normalize(), shuffle=True)
    ours = accelerate(theirs, seed=SEED)
    assert not ours.translation.python_steps
    for sample, image, drawn in _drawn(tv, theirs, ours):
        crop, flip = drawn["RandomCrop"].moves[-1], drawn["RandomHorizontalFlip"].moves[0]
        box = _box(crop)
        pixels = sample[box[1] : box[3], box[0] : box[2]]
        pixels = pixels[:, ::-1] if flip.horizontal[0] else pixels
        assert np.array_equal(image, A.Normalize()(image=pixels)["image"].transpose(2, 0, 1))


def test_boxes_resized(tv, load_arrays):
    """The core cuts the box out of the file, and Albumentations resizes it."""
    resized = A.RandomResizedCrop((20, 24), scale=(0.2, 1.0))
    theirs = load_arrays(resized, A.VerticalFlip(), shuffle=True)
    ours = accelerate(theirs, seed=SEED)
    (line,) = ours.translation.python_steps
    assert "the box is drawn and decoded natively" in line.note
    for sample, image, drawn in _drawn(tv, theirs, ours):
        pixels = resized.apply(sample, crop_coords=_box(drawn["RandomBox"].moves[0]))
        flipped = drawn["RandomVerticalFlip"].moves[0].vertical[0]
        pixels = pixels[::-1] if flipped else pixels
        assert np.array_equal(image, pixels.transpose(2, 0, 1))


def _drawn(tv, theirs, ours):
    """Each sample's pixels in its file, what came out, and what was drawn."""
    files = theirs.dataset.files
    order = Order(len(files), SEED, 0, shuffle=True).at(np.arange(len(files)))
    images = tv.torch.cat([batch[0] for batch in ours]).numpy()
    assert len(images) == len(files)
    for index, image in zip(order.tolist(), images, strict=True):
        pixels = np.array(Image.open(files[index]).convert("RGB"))
        size = pixels.shape[:2]
        yield pixels, image, drawn_by(ours.plan, size, seed=SEED, epoch=0, sample=index)


def _box(crop):
    top, left, height, width = (
        int(getattr(crop, name)[0]) for name in ("top", "left", "height", "width")
    )
    return left, top, left + width, top + height


def test_a_users_own_transform(load_arrays):
    class Darker(A.ImageOnlyTransform):
        def apply(self, img, **params):
            return img // 2

    class Halves(A.ImageOnlyTransform):
        def apply(self, img, **params):
            return img / np.float32(2)

    assert assert_same(load_arrays(A.CenterCrop(8, 8), Darker(p=1))).python_steps[0].theirs
    loader = accelerate(load_arrays(A.CenterCrop(8, 8), Halves(p=1)))
    with pytest.raises(penstock.TransformError, match=r"Halves: returned a float32 array of shape"):
        next(iter(loader))
