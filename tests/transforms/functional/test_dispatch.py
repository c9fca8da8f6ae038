"""Which kernel is called: for kinds of input, classes of the user's own, and what is refused."""

import numpy as np
import pytest
import torch
from PIL import Image

from penstock.errors import TransformError, TransformTypeError
from penstock.transforms import functional as F
from penstock.transforms.functional.dispatch import TABLES, get_kernel


@pytest.mark.parametrize("name", sorted(TABLES))
def test_an_unknown_type_is_refused(name):
    table = TABLES[name]

    with pytest.raises(TypeError, match=rf"F.{name} supports inputs of type .*<class 'object'>"):
        table[object]
    with pytest.raises(TransformTypeError, match="<class 'str'>"):
        table[str]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_function_has_its_kernels(theirs, tv_tensors, name):
    """The kinds of input that torchvision takes, and no others; arrays where Pillow images are."""
    registry = theirs._utils._KERNEL_REGISTRY[getattr(theirs, name)]
    kinds = [Image.Image, torch.Tensor]
    kinds += [kind for kind in vars(tv_tensors).values() if isinstance(kind, type)]
    for kind in kinds:
        if kind in {tv_tensors.TVTensor, tv_tensors.BoundingBoxFormat}:
            continue
        assert (TABLES[name].find(kind) is not None) == (kind in registry), kind
    assert (TABLES[name].find(np.ndarray) is not None) == (Image.Image in registry)


def test_subclasses_are_what_they_derive_from(tv_tensors):
    class MyImage(tv_tensors.Image):
        pass

    class MyPillow(Image.Image):
        pass

    class MyArray(np.ndarray):
        pass

    flipped = F.horizontal_flip(MyImage(torch.arange(6.0).reshape(1, 2, 3)))

    assert type(flipped) is MyImage
    assert flipped[0, 0].tolist() == [2, 1, 0]
    assert TABLES["resize"].find(MyPillow) is TABLES["resize"].find(Image.Image)
    assert TABLES["resize"].find(MyArray) is TABLES["resize"].find(np.ndarray)
    assert TABLES["resize"].find(torch.nn.Parameter) is TABLES["resize"].find(torch.Tensor)


def test_a_class_can_say_how_it_is_wrapped(tv_tensors):
    class Noted(tv_tensors.Image):
        @classmethod
        def wrap(cls, tensor, like, **changes):
            assert not changes
            wrapped = tensor.as_subclass(cls)
            wrapped.note = like.note
            return wrapped

    image = Noted(torch.zeros(3, 4, 4))
    image.note = "kept"

    assert F.crop(image, 0, 0, 2, 2).note == "kept"
    assert [part.note for part in F.five_crop(image, 2)] == ["kept"] * 5


def test_kernels_can_be_registered(tv_tensors):
    class Depth(tv_tensors.TVTensor):
        pass

    depth = Depth(torch.ones(2, 2))
    with pytest.raises(TypeError, match="Depth"):
        F.resize(depth, 4)

    @F.register_kernel(F.resize, Depth)
    def resize_depth(inpt, size, **rest):
        assert inpt is depth
        assert sorted(rest) == ["antialias", "interpolation", "max_size"]
        return size

    assert F.resize(depth, 4) == 4
    assert F.resize(torch.zeros(1, 2, 2), 4).shape == (1, 4, 4)
    with pytest.raises(ValueError, match="already has a kernel registered for type"):
        F.register_kernel("resize", Depth)
    F.register_kernel("hflip", Depth)(type)
    assert F.horizontal_flip(depth) is Depth


def test_what_cannot_be_registered(tv_tensors):
    class Depth(tv_tensors.TVTensor):
        pass

    for functional, kind, words in (
        ("no_such_function", Depth, "Could not find functional with name"),
        (torch.nn.functional.interpolate, Depth, "Kernels can only be registered on functionals"),
        (3, Depth, "Kernels can only be registered on functionals"),
        (F.resize, object, "Kernels can only be registered for subclasses"),
        (F.resize, tv_tensors.Image, "cannot be registered for the builtin tv_tensor classes"),
    ):
        with pytest.raises(TransformError, match=words):
            F.register_kernel(functional, kind)


def test_kernels_are_told_or_passed_by():
    image = torch.arange(6.0).reshape(1, 2, 3)

    assert get_kernel(F.crop, torch.Tensor)(image, 0, 1, 1, 1).item() == 1
    assert get_kernel(F.crop, str, allow_passthrough=True)("left alone", 1, top=2) == "left alone"
    with pytest.raises(TypeError, match="supports inputs of type"):
        get_kernel(F.crop, str)


def test_arguments_by_position_reach_boxes(tv_tensors):
    boxes = tv_tensors.BoundingBoxes([[1, 1, 4, 4]], format="XYXY", canvas_size=(9, 9))

    cropped = get_kernel(F.crop, type(boxes))(boxes, 1, 2, 5, 6)

    assert cropped.tolist() == [[0, 0, 2, 3]]
    assert cropped.canvas_size == (5, 6)


def test_an_array_that_is_no_image_is_refused():
    for pixels in (np.zeros((3, 4)), np.zeros((3, 4, 5), np.uint8), np.zeros(7, np.uint8)):
        with pytest.raises(TransformTypeError, match=r"an array must be uint8, .* got"):
            F.resize(pixels, 2)


def test_is_pure_tensor(tv_tensors):
    assert F.is_pure_tensor(torch.zeros(1))
    assert not F.is_pure_tensor(tv_tensors.Mask(torch.zeros(1)))
    assert not F.is_pure_tensor(np.zeros(1))
