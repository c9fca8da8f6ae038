"""Calling transforms: what is given and returned, beside what torchvision would give."""

import multiprocessing
import pickle
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from penstock import TransformError
from penstock import transforms as T
from penstock.errors import NoKernelError
from penstock.transforms import functional as F
from penstock.transforms import inputs
from penstock.transforms.op import CalledOnly
from strategies import make_image

torch = pytest.importorskip("torch")
IMAGE = make_image((24, 30))


class Pair(NamedTuple):
    image: Any
    label: Any


CALLED_ONLY = [
    T.FiveCrop(3),
    T.TenCrop((3, 4), vertical_flip=True),
    T.JPEG((20, 30)),
    T.ClampKeyPoints(),
    T.SanitizeKeyPoints(),
    T.SetClampingMode("soft"),
    T.UniformTemporalSubsample(3),
]


def seeded(transform, *given):
    torch.manual_seed(3)
    return transform(*given)


@pytest.mark.parametrize(
    "transform",
    [
        T.RandomHorizontalFlip(1.0),
        T.RandomResizedCrop(9),
        T.RandomCrop(30, pad_if_needed=True),
        T.ColorJitter(0.5, 0.5, 0.5, 0.2),
        T.RandomAffine(20, fill=(3, 4, 5)),
        T.AugMix(),
        T.RandAugment(),
        T.RandomErasing(1.0),
        T.Compose([T.Resize(12), T.RandomApply([T.RandomInvert(1.0)], 0.9)]),
    ],
    ids=repr,
)
def test_an_array_gives_what_its_pillow_image_gives(transform):
    called = seeded(transform, np.asarray(IMAGE))

    assert isinstance(called, np.ndarray)
    np.testing.assert_array_equal(called, np.asarray(seeded(transform, IMAGE)))


def test_which_arrays_are_images():
    """Only the first, and only if nothing else is an image; a row of labels never is."""
    flip = T.RandomHorizontalFlip(1.0)
    pixels = np.asarray(IMAGE)
    mirrored = pixels[:, ::-1]
    image, other, labels = flip(pixels, pixels, np.arange(3))
    np.testing.assert_array_equal(image, mirrored)
    assert other is pixels
    np.testing.assert_array_equal(labels, np.arange(3))

    labels, image = flip((np.arange(3), pixels))
    np.testing.assert_array_equal(labels, np.arange(3))
    np.testing.assert_array_equal(image, mirrored)

    pillow, other = flip(IMAGE, pixels)
    np.testing.assert_array_equal(np.asarray(pillow), mirrored)
    assert other is pixels


def test_nothing_is_done_to_what_is_no_image():
    assert T.Resize(9)("name") == "name"
    assert T.Resize(9)({"a": [1, None]}) == {"a": [1, None]}


def test_names_of_nested_values_stay():
    called = T.RandomHorizontalFlip(1.0)({"pair": Pair(IMAGE, 3), "more": OrderedDict(x=IMAGE)})

    assert called["pair"].image == IMAGE.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert called["pair"].label == 3
    assert isinstance(called["more"], OrderedDict)


def test_nestings_without_torch(monkeypatch):
    """Our own flattening, for where torch is not loaded."""
    monkeypatch.delitem(inputs.sys.modules, "torch")
    given = {"a": [1, (2, 3)], "b": Pair(4, OrderedDict(x=5)), "c": ()}
    values, rebuild = inputs.flatten(given)

    assert values == [1, 2, 3, 4, 5]
    assert rebuild([value * 10 for value in values]) == {
        "a": [10, (20, 30)],
        "b": Pair(40, OrderedDict(x=50)),
        "c": (),
    }


def test_a_class_of_the_users_own_passes_through():
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")

    class Depth(tv_tensors.TVTensor):
        pass

    depth = torch.rand(1, 24, 30).as_subclass(Depth)
    for transform in (T.RandomHorizontalFlip(1.0), T.ColorJitter(0.5), T.Resize(9)):
        image, same = transform(IMAGE, depth)
        assert same is depth
        assert image != IMAGE


def test_errors_within_a_users_own_function_are_not_hidden():
    """Only the class that has no function passes through, whatever words an error has."""
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")

    class Depth(tv_tensors.TVTensor):
        pass

    class Flow(tv_tensors.TVTensor):
        pass

    def meets_another_class(inpt):
        return F.vertical_flip(inpt.as_subclass(Flow))

    def has_the_words(inpt, **_):
        raise TypeError("supports inputs of type Depth only")

    F.register_kernel(F.horizontal_flip, Depth)(meets_another_class)
    F.register_kernel(F.resize, Depth)(has_the_words)
    depth = torch.rand(1, 24, 30).as_subclass(Depth)

    with pytest.raises(NoKernelError, match=r"got.*Flow"):
        T.RandomHorizontalFlip(1.0)(IMAGE, depth)
    with pytest.raises(TypeError, match="Depth only"):
        T.Resize(9)(IMAGE, depth)
    assert T.RandomVerticalFlip(1.0)(IMAGE, depth)[1] is depth


def test_a_users_own_class_passes_those_functions_that_have_no_kernel_for_it():
    """Of the functions that a transform calls, as torchvision does it."""
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    v2 = pytest.importorskip("torchvision.transforms.v2")

    class Depth(tv_tensors.TVTensor):
        pass

    def brighter(inpt, brightness_factor):
        return (inpt.as_subclass(torch.Tensor) * brightness_factor).as_subclass(Depth)

    def cut(inpt, top, left, height, width):
        plain = inpt.as_subclass(torch.Tensor)
        return plain[..., top : top + height, left : left + width].as_subclass(Depth)

    for library in (F, v2.functional):
        library.register_kernel(library.adjust_brightness, Depth)(brighter)
        library.register_kernel(library.crop, Depth)(cut)
    depth = torch.rand(1, 24, 30).as_subclass(Depth)
    for name, arguments in (
        ("ColorJitter", {"brightness": 0.5, "contrast": 0.5}),
        ("RandomCrop", {"size": 12, "padding": 3}),
    ):
        ours, theirs = (
            seeded(getattr(library, name)(**arguments), IMAGE, depth)[1] for library in (T, v2)
        )
        assert type(ours) is Depth
        assert not torch.equal(ours.as_subclass(torch.Tensor), depth.as_subclass(torch.Tensor))
        assert torch.equal(ours.as_subclass(torch.Tensor), theirs.as_subclass(torch.Tensor))
    with pytest.raises(NoKernelError, match=r"adjust_contrast.*Depth"):
        F.adjust_contrast(depth, 0.5)


def test_functions_get_what_a_compose_of_torchvision_would_give():
    calls = []

    def both(image, label):
        calls.append((image, label))
        return image, label + 1

    composed = T.Compose([T.CenterCrop(8), both, T.CenterCrop(4)])
    image, label = composed(IMAGE, 5)

    assert label == 6
    assert image.size == (4, 4)
    assert calls[0][0].size == (8, 8)
    assert T.Compose([len])([1, 2]) == 2
    assert T.Compose([])(IMAGE) is IMAGE
    assert T.Compose([])(IMAGE, 3) == (IMAGE, 3)


def test_functions_that_draw_are_repeatable():
    def noise(image, rng):
        return rng.integers(0, 9, image.size)

    first, second = (seeded(T.Compose([noise]), IMAGE) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, T.PythonStep(noise)(IMAGE))


def test_a_step_on_arrays_gets_an_array():
    seen = []
    T.PythonStep(seen.append, as_array=True)(IMAGE)

    np.testing.assert_array_equal(seen[0], np.asarray(IMAGE))


def test_functions_may_stand_in_containers_when_called():
    half = T.RandomApply([lambda image: image.resize((3, 3))], 1.0)

    assert half(IMAGE).size == (3, 3)
    assert T.RandomOrder([T.ToImage(), lambda image: image])(IMAGE).shape == (3, 24, 30)
    assert T.RandomChoice([T.FiveCrop(5)])(IMAGE)[4].size == (5, 5)


def test_views_are_called_one_after_the_other():
    """As by the common class with two crops; what follows is done to each view on its own."""
    crop = T.RandomResizedCrop(8)
    torch.manual_seed(3)
    expected = [crop(IMAGE), crop(IMAGE)]

    assert seeded(T.MultiView([crop, crop]), IMAGE) == expected
    views = T.Compose(
        [T.MultiView([T.CenterCrop(8), T.CenterCrop(6)]), T.RandomHorizontalFlip(1.0)]
    )
    assert [view.size for view in views(IMAGE)] == [(8, 8), (6, 6)]
    assert [label for _, label in views(IMAGE, 7)] == [7, 7]


def test_steps_are_counted_by_what_is_written_not_by_how_it_is_composed():
    flips = [T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.RandomInvert()]
    nested = T.Compose([T.Compose(flips[:2]), T.Compose(flips[2:])])
    for sample in range(10):
        assert nested(IMAGE, key=(0, 0, sample)) == T.Compose(flips)(IMAGE, key=(0, 0, sample))


@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
def test_timms_mixing_draws_a_key(mode):
    images, labels = torch.rand(6, 3, 8, 9), torch.tensor([0, 1, 2, 0, 1, 2])
    mixup = T.MixUp.timm(cutmix_alpha=1.0, mode=mode, num_classes=3)
    (mixed, soft), (again, _) = (seeded(mixup, images, labels) for _ in range(2))

    assert torch.equal(mixed, again)
    assert mixed.shape == images.shape
    torch.testing.assert_close(soft.sum(dim=1), torch.ones(6))
    assert not torch.equal(mixed, images)


def test_timms_mixing_equals_the_arithmetic_of_timm():
    """MixUp of a batch: the first with the last, by one share; labels are smoothed first."""
    images, labels = torch.rand(4, 3, 8, 8), torch.tensor([0, 1, 2, 3])
    mixed, soft = seeded(T.MixUp.timm(num_classes=4, label_smoothing=0.2), images, labels)
    share = float((soft[0, 0] - soft[0, 1]) / 0.8)

    torch.testing.assert_close(mixed, images * share + images.flip(0) * (1 - share))
    torch.testing.assert_close(soft[0, 3] - soft[0, 1], torch.tensor(0.8 * (1 - share)))


def test_blending_bytes_is_refused():
    bytes_ = torch.zeros(2, 3, 4, 4, dtype=torch.uint8)
    with pytest.raises(TransformError, match="blending needs floating point"):
        T.MixUp.timm(num_classes=3)(bytes_, torch.tensor([0, 1]))


def test_levels_are_normalised_as_by_albumentations():
    op = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD, flavor="albumentations")
    tensor = T.PILToTensor()(IMAGE)

    assert torch.equal(op(tensor), op(IMAGE, key=(0, 0, 0)))
    with pytest.raises(TransformError, match="takes uint8 images"):
        op(tensor.float())


@pytest.mark.parametrize("transform", CALLED_ONLY, ids=repr)
def test_what_can_only_be_called_prints_compares_and_is_pickled(transform):
    assert isinstance(transform, CalledOnly)
    assert pickle.loads(pickle.dumps(transform)) == transform  # noqa: S301
    assert eval(f"T.{transform!r}", {"T": T}) == transform  # noqa: S307


def test_a_lambda_is_pickled_with_its_types():
    step = pickle.loads(pickle.dumps(T.Lambda(len, str, list)))  # noqa: S301

    assert step({"a": "abc", "b": 3}) == {"a": 3, "b": 3}


def call_in_child(transform, seed, key, queue):
    torch.manual_seed(seed)
    queue.put((np.asarray(transform(IMAGE)), np.asarray(transform(IMAGE, key=key))))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_in_other_processes(method):
    """As workers of a DataLoader do; the parent has used the core before."""
    transform = T.Compose([T.RandomResizedCrop(9), T.ColorJitter(0.4), T.RandomRotation(20)])
    key = (1, 2, 3)
    torch.manual_seed(8)
    drawn, keyed = np.asarray(transform(IMAGE)), np.asarray(transform(IMAGE, key=key))
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=call_in_child, args=(transform, 8, key, queue))
    child.start()
    there = queue.get(timeout=120)
    child.join()

    np.testing.assert_array_equal(there[0], drawn)
    np.testing.assert_array_equal(there[1], keyed)


def test_a_data_loader_of_torch():
    transform = T.Compose([T.RandomCrop(8), T.ToImage(), T.ToDtype(torch.float32, scale=True)])
    batches = torch.utils.data.DataLoader(
        [IMAGE] * 4,
        batch_size=2,
        num_workers=1,
        collate_fn=lambda images: torch.stack([transform(i) for i in images]),
    )

    assert [tuple(batch.shape) for batch in batches] == [(2, 3, 8, 8)] * 2
