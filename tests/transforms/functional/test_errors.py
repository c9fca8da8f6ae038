"""What is refused, in torchvision's words and with its classes of errors."""

import re

import pytest
import torch
from PIL import Image

from functional_samples import outcome
from penstock.errors import LossyError, PenstockError, TransformError, TransformTypeError
from penstock.transforms import functional as F

IMAGE = torch.zeros(3, 8, 9, dtype=torch.uint8)
FLOATS = torch.zeros(3, 8, 9)
PILLOW = Image.new("RGB", (9, 8))
FOUR = torch.zeros(4, 8, 9)
CORNERS = [[0, 0], [8, 0], [8, 7], [0, 7]]

# Each is refused by torchvision too. Words are what both say.
REFUSED = [
    ("resize", IMAGE, ((4, 4),), {"max_size": 9}, "max_size should only be passed if size is None"),
    ("resize", IMAGE, (9,), {"max_size": 9}, "must be strictly greater than the requested"),
    ("resize", PILLOW, (None,), {}, "max_size must be an integer when size is None"),
    ("resize", IMAGE, (4,), {"interpolation": "cubic"}, "Invalid interpolation mode: 'cubic'"),
    ("resize", PILLOW, (4,), {"interpolation": 2.5}, "Argument interpolation should be"),
    ("resize", IMAGE, (4,), {"interpolation": "lanczos", "antialias": False}, "requires antialias"),
    ("five_crop", IMAGE, ([1, 2, 3],), {}, "Please provide only two dimensions"),
    ("five_crop", PILLOW, (30,), {}, "Requested crop size 30 is bigger than input size (8, 9)"),
    ("pad", IMAGE, ("1",), {}, "`padding` should be an integer or tuple or list of integers"),
    ("pad", IMAGE, ([1, 2, 3],), {}, "Padding must be an int or a 1, 2, or 4 element"),
    ("pad", IMAGE, (1,), {"padding_mode": "wrap"}, "`padding_mode` should be either"),
    ("pad", IMAGE, (1,), {"padding_mode": "edge", "fill": [1, 2, 3]}, "'edge' is not supported"),
    ("pad", PILLOW, ("1",), {}, "Got inappropriate padding arg"),
    ("pad", PILLOW, (1,), {"fill": "red"}, "Got inappropriate fill arg"),
    ("pad", PILLOW, (1,), {"padding_mode": 3}, "Got inappropriate padding_mode arg"),
    ("pad", PILLOW, ([1, 2, 3],), {}, "Padding must be an int or a 1, 2, or 4 element tuple"),
    ("pad", PILLOW, (1,), {"padding_mode": "wrap"}, "Padding mode should be either constant"),
    ("pad", PILLOW, (1,), {"fill": [1, 2]}, "does not match the number of channels of the image"),
    ("affine", IMAGE, ("3", [0, 0], 1, 0), {}, "Argument angle should be int or float"),
    ("affine", IMAGE, (3, 0, 1, 0), {}, "Argument translate should be a sequence"),
    ("affine", IMAGE, (3, [1], 1, 0), {}, "Argument translate should be a sequence of length 2"),
    ("affine", PILLOW, (3, [0, 0], 0, 0), {}, "Argument scale should be positive"),
    ("affine", PILLOW, (3, [0, 0], 1, "0"), {}, "Shear should be either a single value"),
    ("affine", IMAGE, (3, [0, 0], 1, [1, 2, 3]), {}, "Shear should be a sequence containing two"),
    ("affine", IMAGE, (3, [0, 0], 1, 0), {"center": 4}, "Argument center should be a sequence"),
    ("affine", IMAGE, (3, [0, 0], 1, 0), {"fill": [1, 2]}, "cannot broadcast to match the number"),
    ("affine", IMAGE, (3, [0, 0], 1, 0), {"fill": "red"}, "Argument fill should be either"),
    ("rotate", IMAGE, (3,), {"interpolation": "bicubic"}, "'bicubic' is unsupported with Tensor"),
    ("perspective", IMAGE, (None, None), {}, "or the coefficients must have non `None` values"),
    ("perspective", PILLOW, (CORNERS[:3], CORNERS), {}, "Please provide exactly four corners"),
    ("perspective", IMAGE, (None, None), {"coefficients": [1]}, "should have 8 float values"),
    (
        *("perspective", IMAGE, (CORNERS, CORNERS), {"coefficients": [1.0] * 8}),
        "shouldn't be defined concurrently",
    ),
    ("elastic", IMAGE, ([1],), {}, "displacement should be a Tensor"),
    (
        "elastic",
        PILLOW,
        (torch.zeros(1, 2, 3, 2),),
        {},
        "displacement shape should be (1, 8, 9, 2)",
    ),
    ("rgb_to_grayscale", IMAGE, (2,), {}, "num_output_channels must be 1 or 3, got 2."),
    ("rgb_to_grayscale", PILLOW, (4,), {}, "num_output_channels must be 1 or 3, got 4."),
    *(
        (f"adjust_{name}", IMAGE, (-1,), {}, f"{name}_factor (-1) is not non-negative.")
        for name in ("brightness", "contrast", "saturation", "sharpness")
    ),
    *(
        (f"adjust_{name}", FOUR, (0.1,), {}, "permitted channel values are 1 or 3, but found 4")
        for name in ("brightness", "contrast", "saturation", "hue")
    ),
    ("adjust_sharpness", FOUR, (1,), {}, "Input image tensor can have 1 or 3 channels"),
    ("autocontrast", FOUR, (), {}, "permitted channel values are 1 or 3, but found 4"),
    ("adjust_hue", IMAGE, (0.6,), {}, "hue_factor (0.6) is not in [-0.5, 0.5]."),
    ("adjust_hue", PILLOW, (-0.6,), {}, "hue_factor (-0.6) is not in [-0.5, 0.5]."),
    ("adjust_gamma", IMAGE, (-1,), {}, "Gamma should be a non-negative real number"),
    ("adjust_gamma", PILLOW, (-1,), {}, "Gamma should be a non-negative real number"),
    ("posterize", IMAGE, (9,), {}, "bits must be a positive integer in the range [0, 8], got 9"),
    ("solarize", IMAGE, (256,), {}, "Threshold should be less or equal the maximum value"),
    ("permute_channels", IMAGE, ([0, 1],), {}, "Length of permutation does not match number"),
    ("permute_channels", PILLOW, ([0],), {}, "does not match number of channels: 1 != 3"),
    ("gaussian_blur", IMAGE, ([3],), {}, "If kernel_size is a sequence its length should be 2"),
    ("gaussian_blur", IMAGE, (4,), {}, "kernel_size should have odd and positive integers"),
    ("gaussian_blur", PILLOW, (3, [1, 2, 3]), {}, "If sigma is a sequence, its length should be 2"),
    ("gaussian_blur", IMAGE, (3, "1"), {}, "sigma should be either float or sequence of floats"),
    ("gaussian_blur", IMAGE, (3, 0), {}, "sigma should have positive values"),
    ("gaussian_noise", PILLOW, (), {}, "Gaussian Noise is not implemented for PIL images."),
    ("gaussian_noise", IMAGE, (), {"sigma": -1}, "sigma shouldn't be negative. Got -1"),
    ("normalize", IMAGE, ([0.5], [1]), {}, "Input tensor should be a float tensor"),
    ("normalize", FLOATS[0], ([0.5], [1]), {}, "tensor image of size (..., C, H, W)"),
    ("normalize", FLOATS, ([0.5], [0]), {}, "std evaluated to zero, leading to division by zero"),
    ("to_dtype", FLOATS, (torch.int32, True), {}, "cannot be performed safely"),
    ("to_pil_image", 3, (), {}, "pic should be Tensor or ndarray. Got <class 'int'>."),
    ("to_pil_image", FLOATS[0, 0], (), {}, "pic should be 2/3 dimensional. Got 1 dimensions."),
    ("to_pil_image", torch.zeros(5, 2, 2), (), {}, "pic should not have > 4 channels"),
    ("to_pil_image", IMAGE, ("L",), {}, "Only modes ['RGB', 'YCbCr', 'HSV'] are supported for 3D"),
    ("to_pil_image", IMAGE[:1], ("RGB",), {}, "Incorrect mode (RGB) supplied for input type"),
    ("to_pil_image", IMAGE.long(), (), {}, "Input type int64 is not supported"),
    ("pil_to_tensor", IMAGE, (), {}, "pic should be PIL Image. Got <class 'torch.Tensor'>"),
    ("to_image", "photo.jpg", (), {}, "Input can either be a pure Tensor, a numpy array, or a PIL"),
    ("to_tensor", 3, (), {}, "pic should be PIL Image or ndarray. Got <class 'int'>"),
    ("get_size", FLOATS[0, 0], (), {}, "Input tensor should have at least two dimensions"),
    ("get_dimensions", FLOATS[0, 0], (), {}, "Input tensor should have at least two dimensions"),
    (
        "clamp_bounding_boxes",
        FLOATS,
        (),
        {},
        "`canvas_size` and `clamping_mode` have to be passed.",
    ),
    ("clamp_bounding_boxes", FLOATS, (), {"clamping_mode": "no"}, "clamping_mode must be soft,"),
    ("clamp_bounding_boxes", PILLOW, (), {}, "a plain tensor or a bounding box tv_tensor"),
    ("clamp_keypoints", FLOATS, (), {}, "`canvas_size` has to be passed."),
    ("clamp_keypoints", 3, (), {}, "a plain tensor or a keypoints tv_tensor"),
    ("convert_bounding_box_format", FLOATS, (), {}, "missing 1 required argument: 'new_format'"),
    (
        *("convert_bounding_box_format", FLOATS, (), {"new_format": "XYXY"}),
        "`old_format` has to be passed",
    ),
    (
        *("convert_bounding_box_format", FLOATS, ("XYXY", "XYWHR"), {}),
        "Cannot convert between rotated and unrotated bounding boxes.",
    ),
    (
        "sanitize_bounding_boxes",
        FLOATS,
        (),
        {},
        "cannot be None if bounding_boxes is a pure tensor",
    ),
    ("sanitize_bounding_boxes", 3, (), {}, "bounding_boxes must be a tv_tensors.BoundingBoxes"),
    ("sanitize_keypoints", FLOATS, (), {}, "canvas_size cannot be None if key_points is a pure"),
    ("sanitize_keypoints", 3, (), {}, "key_points must be a tv_tensors.KeyPoints instance or a"),
]


@pytest.mark.parametrize("call", REFUSED, ids=lambda call: f"{call[0]}: {call[4]}")
def test_the_words_are_torchvisions(theirs, call):
    name, inpt, args, kwargs, words = call
    error = outcome(getattr(F, name), inpt, args, kwargs)[1]
    refused = outcome(getattr(theirs, name), inpt, args, kwargs)[1]

    assert words in str(refused)
    assert words in str(error)
    assert isinstance(error, PenstockError)
    assert isinstance(error, type(refused))


def test_what_tv_tensors_know_must_not_be_said(theirs, tv_tensors):
    boxes = tv_tensors.BoundingBoxes([[1.0, 2, 3, 4]], format="XYXY", canvas_size=(8, 9))
    points = tv_tensors.KeyPoints([[1.0, 2]], canvas_size=(8, 9))
    for name, inpt, kwargs in (
        ("clamp_bounding_boxes", boxes, {"canvas_size": (8, 9)}),
        ("convert_bounding_box_format", boxes, {"old_format": "XYXY", "new_format": "XYWH"}),
        ("sanitize_bounding_boxes", boxes, {"format": "XYXY"}),
        ("clamp_keypoints", points, {"canvas_size": (8, 9)}),
        ("sanitize_keypoints", points, {"canvas_size": (8, 9)}),
        ("pad", points, {"padding": 1, "padding_mode": "edge"}),
        ("pad", boxes, {"padding": 1, "padding_mode": "edge"}),
        ("pad", tv_tensors.Mask(FLOATS), {"padding": 1, "fill": [1, 2, 3]}),
    ):
        error = outcome(getattr(F, name), inpt, (), kwargs)[1]
        refused = outcome(getattr(theirs, name), inpt, (), kwargs)[1]
        assert isinstance(error, TransformError)
        first_words = str(refused)[:35]
        assert first_words in str(error), name


def test_the_same_error_is_found_by_its_kind():
    """Whoever catches Python's class or ours catches it."""
    for kind in (TransformTypeError, TransformError, TypeError, ValueError):
        with pytest.raises(kind, match=re.escape("[0, 8], got 9 instead")):
            F.posterize(IMAGE, 9)
    for kind in (LossyError, TransformError, RuntimeError):
        with pytest.raises(kind, match=r"torch\.float32 to torch\.int64"):
            F.to_dtype(FLOATS, torch.int64, scale=True)


def test_a_perspective_without_return_is_refused(tv_tensors):
    boxes = tv_tensors.BoundingBoxes([[1.0, 2, 3, 4]], format="XYXY", canvas_size=(8, 9))

    with pytest.raises(RuntimeError, match="Denominator is zero"):
        F.perspective(boxes, None, None, coefficients=[0.0] * 8)


def test_a_border_wider_than_the_image_cannot_mirror_it():
    with pytest.raises(TransformError, match="a symmetric border of 9 pixels is wider"):
        F.pad(IMAGE, [0, 9], padding_mode="symmetric")


def test_sizes_of_three_numbers_are_refused():
    """torchvision would take the first two."""
    with pytest.raises(TransformError, match=r"one or two integers, got \[1, 2, 3\]"):
        F.resize(IMAGE, [1, 2, 3])


def test_antialiasing_of_pillow_cannot_be_turned_off():
    with pytest.warns(UserWarning, match="Anti-alias option is always applied for PIL Image"):
        F.resize(PILLOW, 4, antialias=False)
