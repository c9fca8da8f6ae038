"""Transforms one by one: what each becomes, and the same pixels where nothing is drawn."""

import re

import pytest

import penstock
from penstock.translation.transforms.lines import How
from tests.translation.accelerate.reading import accelerate, explain_translation


class Mirror:
    """A transform of a user's own that draws nothing."""

    def __call__(self, image):
        return image.transpose(0)


def halve(image):
    return image.reduce(2)


def assert_same(loader, **options):
    """Batch for batch the same, and return the translation."""
    import torch

    ours = accelerate(loader, **options)
    for (images, labels), (expected, expected_labels) in zip(ours, loader, strict=True):
        assert images.dtype == expected.dtype
        assert torch.equal(images, expected)
        assert torch.equal(labels, expected_labels)
    return ours.translation


V1_STEPS = {
    "flips": lambda t: [t.RandomHorizontalFlip(1.0), t.RandomVerticalFlip(1.0)],
    "pad": lambda t: [t.Pad((3, 5), fill=(1, 2, 3)), t.Pad(4, padding_mode="reflect")],
    "gray": lambda t: [t.Grayscale(3)],
    "colours": lambda t: [t.ColorJitter((1.3, 1.3)), t.ColorJitter(hue=(0.2, 0.2))],
    "tables": lambda t: [t.RandomPosterize(3, 1.0), t.RandomSolarize(99, 1.0)],
    "statistics": lambda t: [t.RandomEqualize(1.0), t.RandomAutocontrast(1.0)],
    "sharpness": lambda t: [t.RandomAdjustSharpness(2.5, 1.0)],
    "rotation": lambda t: [t.RandomRotation((30, 30), fill=9, expand=False)],
    "affine": lambda t: [t.RandomAffine((20, 20), scale=(1.1, 1.1), shear=(5, 5))],
    "resizes": lambda t: [
        t.Resize(30, max_size=48),
        t.Resize((40, 41), t.InterpolationMode.BICUBIC),
    ],
    "containers": lambda t: [
        t.RandomApply([t.RandomInvert(1.0), t.Compose([t.RandomVerticalFlip(1.0)])], p=1.0),
        t.RandomChoice([t.RandomEqualize(1.0)]),
        t.RandomOrder([t.RandomHorizontalFlip(1.0)]),
    ],
    "a function": lambda t: [Mirror(), halve, t.Lambda(halve)],
}


@pytest.mark.parametrize("name", V1_STEPS)
@pytest.mark.parametrize("generation", ["v1", "v2"])
def test_steps_on_pillow_images(make_loader, tv, name, generation):
    t = getattr(tv, generation)
    middle = [t.Resize((50, 60)), *V1_STEPS[name](t), t.CenterCrop(32)]
    with pytest.warns(UserWarning, match="deprecated") if generation == "v2" else _nothing():
        end = t.ToTensor()
    translation = assert_same(make_loader(transform=t.Compose([*middle, end])))

    assert bool(translation.python_steps) == (name == "a function")


def _nothing():
    import contextlib

    return contextlib.nullcontext()


ENDS = {
    "bytes v1": lambda tv: [tv.v1.PILToTensor()],
    "bytes v2": lambda tv: [tv.v2.ToImage(), tv.v2.ToPureTensor()],
    "older conversion": lambda tv: [tv.v1.PILToTensor(), tv.v1.ConvertImageDtype(tv.torch.float32)],
    "newer conversion": lambda tv: [tv.v2.PILToTensor(), tv.v2.ConvertImageDtype(tv.torch.float16)],
    "unscaled": lambda tv: [tv.v2.ToImage(), tv.v2.ToDtype(tv.torch.float32)],
    "by class": lambda tv: [
        tv.v2.ToImage(),
        tv.v2.ToDtype({tv.torch.Tensor: None, "others": tv.torch.float32}, scale=True),
    ],
    "half": lambda tv: [
        tv.v1.ToTensor(),
        tv.v1.Normalize((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
        tv.v2.ToDtype(tv.torch.bfloat16),
    ],
    "there and back": lambda tv: [tv.v2.ToImage(), tv.v2.ToPILImage(), tv.v2.PILToTensor()],
    "moves on bytes": lambda tv: [
        tv.v2.ToImage(),
        tv.v2.RandomHorizontalFlip(1.0),
        tv.v2.Pad(3, fill=7),
        tv.v2.CenterCrop((30, 50)),
        tv.v2.ToDtype(tv.torch.float32, scale=True),
    ],
    "moves on numbers": lambda tv: [
        tv.v1.ToTensor(),
        tv.v1.CenterCrop((30, 50)),
        tv.v1.Normalize((0.1,), (0.4,)),
        tv.v1.RandomVerticalFlip(1.0),
    ],
    "nothing": lambda tv: [tv.torch.nn.Identity(), tv.v2.Identity(), tv.v2.RGB(), tv.v1.ToTensor()],
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_pipelines(make_loader, tv, name):
    transform = tv.v1.Compose([tv.v1.Resize((40, 44)), *ENDS[name](tv)])
    translation = assert_same(make_loader(transform=transform))

    assert not translation.python_steps


def test_modules_in_a_row(make_loader, tv):
    v1 = tv.v1
    steps = tv.torch.nn.Sequential(v1.Resize((40, 44)), v1.CenterCrop(8))
    assert_same(make_loader(transform=v1.Compose([steps, v1.ToTensor()])))


def test_what_weights_bring_along(make_loader, tv):
    from torchvision.transforms._presets import ImageClassification

    assert_same(make_loader(transform=ImageClassification(crop_size=32, resize_size=36)))


@pytest.mark.parametrize("value", [0, 0.5, (0.1, 0.2, 0.3)])
def test_erasing_before_normalize_is_normalised(make_loader, tv, value):
    """An erased rectangle has the values that torchvision's would have."""
    v1 = tv.v1
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    steps = [v1.Resize((40, 44)), v1.ToTensor(), v1.RandomErasing(1.0, value=value)]
    loader = make_loader(transform=v1.Compose([*steps, v1.Normalize(mean, std)]))
    ours = accelerate(loader)
    plain = make_loader(transform=v1.Compose([steps[0], steps[1], v1.Normalize(mean, std)]))
    wanted = tv.torch.full((3, 1, 1), 0.0) + tv.torch.tensor(value).reshape(-1, 1, 1)
    wanted = v1.Normalize(mean, std)(wanted)
    for (images, _), (untouched, _) in zip(ours, plain, strict=True):
        erased = (images != untouched).any(dim=1, keepdim=True)
        assert erased.any()
        assert tv.torch.equal(images, tv.torch.where(erased, wanted, untouched))


def test_erasing_with_noise(make_loader, tv):
    v1 = tv.v1
    noise = v1.RandomErasing(value="random")
    fine = v1.Compose([v1.Resize((9, 9)), v1.ToTensor(), noise])
    assert next(iter(accelerate(make_loader(transform=fine))))[0].shape == (4, 3, 9, 9)
    early = v1.Compose([fine, v1.Normalize((0.1,), (0.2,))])
    with pytest.raises(penstock.TranslationError, match="noise is erased with before it is norm"):
        accelerate(make_loader(transform=early))


@pytest.mark.parametrize("generation", ["v1", "v2"])
@pytest.mark.parametrize("kernel_size", [5, (9, 3), 23])
def test_a_blur_is_torchvisions_to_the_byte(make_loader, tv, generation, kernel_size):
    t = getattr(tv, generation)
    blur = t.GaussianBlur(kernel_size, (1.3, 1.3))
    transform = t.Compose([t.Resize((40, 44)), blur, t.PILToTensor()])

    assert not assert_same(make_loader(transform=transform)).python_steps


def test_a_blur_that_torch_sums_up_otherwise_stays_torchvisions(make_loader, tv, monkeypatch):
    def refuse(generation):
        raise penstock.TransformError("GaussianBlur: torch 9 sums up a blur in a way ...")

    monkeypatch.setattr("penstock.transforms.filter.check_installed_torch", refuse)
    steps = [tv.v1.Resize((40, 44)), tv.v1.GaussianBlur(5, (1.0, 1.0)), tv.v1.PILToTensor()]
    with pytest.warns(UserWarning, match=r"GaussianBlur.*: draws from the generator of torch"):
        translation = assert_same(make_loader(transform=tv.v1.Compose(steps)))

    (line,) = translation.python_steps
    assert "torch 9 sums up a blur in a way" in line.note


def test_what_ours_are_near_to_stays_torchvisions_unless_told_otherwise(make_loader, tv):
    """The line says how near ours are, and what they would bring."""
    corners_stay = tv.v1.RandomPerspective(0.0, p=1.0)
    transform = tv.v1.Compose([tv.v1.Resize((40, 44)), corners_stay, tv.v1.PILToTensor()])
    loader = make_loader(transform=transform)
    with pytest.warns(UserWarning, match=r"RandomPerspective.*: draws from the generator of torch"):
        translation = assert_same(loader)

    (line,) = translation.python_steps
    assert line.theirs.startswith("RandomPerspective")
    assert line.near
    assert line.microseconds > 0
    assert re.search(r"Ours is within a level; .* about [\d,]+ us: [\d,.]+ times", line.note)
    assert line.note.endswith("Pass strict=False to take it")


def test_what_ours_are_near_to_is_within_a_level(make_loader, tv):
    step = tv.v1.RandomPerspective(0.0, 1.0)
    transform = tv.v1.Compose([tv.v1.Resize((40, 44)), step, tv.v1.PILToTensor()])
    loader = make_loader(transform=transform)
    ours = accelerate(loader, strict=False)
    assert not ours.translation.python_steps
    for (images, _), (expected, _) in zip(ours, loader, strict=True):
        assert (images.int() - expected.int()).abs().max() <= 1


def test_a_function_that_changes_the_mode(make_loader, tv):
    def to_gray(image):
        return image.convert("L")

    loader = accelerate(make_loader(to_gray))
    with pytest.raises(penstock.TransformError, match=r"to_gray: returned .* mode L; a step"):
        next(iter(loader))


def test_timing_a_step_draws_nothing(make_loader, tv):
    tv.torch.manual_seed(0)
    expected = tv.torch.rand(3)
    tv.torch.manual_seed(0)
    explain_translation(make_loader(tv.v1.GaussianBlur(5)))

    assert tv.torch.equal(tv.torch.rand(3), expected)


def test_an_argument_that_ours_does_not_take(make_loader, tv):
    fills = {tv.torch.Tensor: 3, "others": 0}
    steps = [tv.v2.Resize((9, 9)), tv.v2.Pad(3, fill=fills), tv.v2.PILToTensor()]
    translation = assert_same(make_loader(transform=tv.v2.Compose(steps)))

    assert translation.python_steps[0].theirs.startswith("Pad")
    assert "fill has one colour for each type" in translation.python_steps[0].note


def test_files_of_any_mode(tv, folder):
    """Without .convert, images have the mode of their file; not strict, they become RGB."""
    from PIL import Image

    class Files(tv.data.Dataset):
        def __init__(self):
            self.files = sorted(str(path) for path in folder.rglob("*.jpg"))
            self.transform = tv.v1.Compose([tv.v1.Resize((9, 9)), tv.v1.ToTensor()])

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            return self.transform(Image.open(self.files[index])), 0 * index

    loader = tv.data.DataLoader(Files(), batch_size=5)
    with pytest.raises(penstock.TranslationError, match="images keep the mode of their file"):
        accelerate(loader)
    assert_same(loader, strict=False)


def test_lines_say_what_became_of_each_part(make_loader, tv):
    translation = explain_translation(
        make_loader(Mirror(), shuffle=True, num_workers=2, worker_init_fn=len, pin_memory=True)
    )

    assert [(line.part, line.how) for line in translation.lines] == [
        ("data", How.NATIVE),
        ("batch", How.NATIVE),
        ("batch", How.NOT_NEEDED),
        ("batch", How.NOT_NEEDED),
        ("batch", How.NOT_NEEDED),
        ("order", How.NATIVE),
        ("transform", How.NATIVE),
        ("transform", How.PYTHON),
        ("transform", How.NATIVE),
    ]
    text = str(translation)
    assert "RandomCrop(size=(32, 32), padding=None) -> RandomCrop(size=(32, 32))" in text
    assert "Mirror -> PythonStep (about " in text
    assert "worker_init_fn=len: not called" in text
