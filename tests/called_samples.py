"""Transforms of ours and of torchvision, made alike, called alike and compared to the bit."""

import re
import warnings

import numpy as np
import pytest
from PIL import Image

from penstock import transforms as T

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

SEEDS = range(8)

# A transform's name, and arguments that both libraries take.
CASES = [
    ("RandomHorizontalFlip", {}),
    ("RandomHorizontalFlip", {"p": 0.7}),
    ("RandomVerticalFlip", {"p": 0.3}),
    ("Resize", {"size": 13}),
    ("Resize", {"size": [9, 31], "interpolation": "bicubic"}),
    ("Resize", {"size": None, "max_size": 40}),
    ("Resize", {"size": 12, "max_size": 15, "antialias": False}),
    ("CenterCrop", {"size": 15}),
    ("CenterCrop", {"size": (60, 10)}),
    ("RandomResizedCrop", {"size": 16}),
    ("RandomResizedCrop", {"size": (8, 21), "scale": (0.5, 3.0), "ratio": (0.2, 5.0)}),
    ("RandomResizedCrop", {"size": 10, "scale": (2.0, 4.0), "interpolation": "nearest"}),
    ("Pad", {"padding": 3}),
    ("Pad", {"padding": (1, 2, 3, 4), "fill": (10, 200, 30)}),
    ("Pad", {"padding": (5, 2), "padding_mode": "reflect"}),
    ("Pad", {"padding": [2], "padding_mode": "symmetric"}),
    ("RandomCrop", {"size": 16}),
    ("RandomCrop", {"size": (17, 20), "padding": 4, "fill": 77}),
    ("RandomCrop", {"size": 60, "pad_if_needed": True, "padding_mode": "edge"}),
    ("RandomZoomOut", {"p": 0.8, "fill": (1, 2, 3)}),
    ("RandomZoomOut", {"side_range": (1.5, 2.5)}),
    ("RandomRotation", {"degrees": 30}),
    ("RandomRotation", {"degrees": (10, 80), "expand": True, "interpolation": "bilinear"}),
    ("RandomRotation", {"degrees": 15, "center": (3, 4), "fill": 120}),
    ("RandomAffine", {"degrees": 10}),
    ("RandomAffine", {"degrees": (-5, 40), "translate": (0.2, 0.3), "scale": (0.5, 1.5)}),
    ("RandomAffine", {"degrees": 0, "shear": 20, "interpolation": "bilinear", "fill": 9}),
    ("RandomAffine", {"degrees": 3, "shear": (-5, 5, -9, 9), "center": (2, 8)}),
    ("RandomPerspective", {"p": 0.9}),
    ("RandomPerspective", {"distortion_scale": 0.9, "p": 1.0, "interpolation": "nearest"}),
    ("ElasticTransform", {"sigma": 2.0}),
    ("ElasticTransform", {"alpha": (20.0, 90.0), "sigma": (1.0, 1.5), "fill": 60}),
    ("ScaleJitter", {"target_size": (30, 41)}),
    ("RandomShortestSize", {"min_size": [9, 14, 22], "max_size": 40}),
    ("RandomShortestSize", {"min_size": 12}),
    ("RandomResize", {"min_size": 8, "max_size": 30}),
    ("Grayscale", {}),
    ("Grayscale", {"num_output_channels": 3}),
    ("RandomGrayscale", {"p": 0.5}),
    ("ColorJitter", {"brightness": 0.4, "contrast": 0.3, "saturation": (0.2, 2.0), "hue": 0.2}),
    ("ColorJitter", {"hue": (-0.5, 0.5)}),
    ("ColorJitter", {}),
    ("RandomPhotometricDistort", {}),
    ("RandomPhotometricDistort", {"p": 1.0}),
    ("RandomChannelPermutation", {}),
    ("RandomInvert", {}),
    ("RandomEqualize", {}),
    ("RandomAutocontrast", {}),
    ("RandomPosterize", {"bits": 3}),
    ("RandomAdjustSharpness", {"sharpness_factor": 2.5}),
    ("GaussianBlur", {"kernel_size": 3}),
    ("GaussianBlur", {"kernel_size": (5, 7), "sigma": (0.5, 3.0)}),
    ("RandomErasing", {"p": 0.9}),
    ("RandomErasing", {"p": 1.0, "value": "random"}),
    ("RandomErasing", {"p": 1.0, "value": (5.0, 6.0, 7.0), "scale": (0.3, 1.0)}),
    ("AutoAugment", {}),
    ("AutoAugment", {"policy": T.AutoAugmentPolicy.CIFAR10, "fill": 100}),
    ("AutoAugment", {"policy": T.AutoAugmentPolicy.SVHN, "interpolation": "bilinear"}),
    ("RandAugment", {"num_ops": 3}),
    ("RandAugment", {"magnitude": 4, "num_magnitude_bins": 11, "fill": (1, 2, 3)}),
    ("TrivialAugmentWide", {}),
    ("TrivialAugmentWide", {"num_magnitude_bins": 7, "interpolation": "bilinear"}),
    ("AugMix", {}),
    ("AugMix", {"severity": 7, "mixture_width": 2, "chain_depth": 2, "all_ops": False}),
    ("Identity", {}),
    ("RGB", {}),
    ("ToImage", {}),
    ("PILToTensor", {}),
    ("ToPureTensor", {}),
    ("FiveCrop", {"size": 12}),
    ("TenCrop", {"size": (9, 11), "vertical_flip": True}),
    ("JPEG", {"quality": (20, 90)}),
    ("JPEG", {"quality": 50}),
]


def both(name, arguments):
    """Ours and torchvision's."""
    theirs = dict(arguments)
    if "policy" in theirs:
        theirs["policy"] = v2.AutoAugmentPolicy(theirs["policy"].value)
    return getattr(T, name)(**arguments), getattr(v2, name)(**theirs)


def called(transform, seed, *inputs):
    """What it gives from a seed, and the state of the generator afterwards."""
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transform(*inputs), torch.get_rng_state()


def assert_same(ours, theirs):
    """Equal in type and in every bit, whatever they are made of."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            assert_same(ours[key], theirs[key])
    elif isinstance(ours, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    elif isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if ours.dtype.is_floating_point:
            assert torch.equal(ours.isnan(), theirs.isnan())
        assert torch.equal(
            torch.nan_to_num(ours.as_subclass(torch.Tensor)),
            torch.nan_to_num(theirs.as_subclass(torch.Tensor)),
        )
        for name in ("format", "canvas_size", "clamping_mode"):
            assert getattr(ours, name, None) == getattr(theirs, name, None)
    elif isinstance(ours, Image.Image):
        assert (ours.mode, ours.size) == (theirs.mode, theirs.size)
        assert ours.tobytes() == theirs.tobytes()
    else:
        assert ours == theirs


def check(ours, theirs, seed, *inputs):
    """Equal results and states; where torchvision refuses an input, so do we."""
    try:
        theirs_out, theirs_state = called(theirs, seed, *inputs)
    except (TypeError, ValueError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            called(ours, seed, *inputs)
        return
    ours_out, ours_state = called(ours, seed, *inputs)
    assert_same(ours_out, theirs_out)
    assert torch.equal(ours_state, theirs_state)


def tensor_of(image, dtype):
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous()
    return pixels if dtype == torch.uint8 else pixels.to(dtype) / 255


def name_of(case):
    """Without addresses of functions, which differ from process to process."""
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", str(case))


def sample_with_targets(image, box_format="XYXY", boxes=5, seed=0):
    """An image with boxes, masks, keypoints and things that are none of those."""
    rng = np.random.default_rng(seed)
    height, width = (
        (image.height, image.width) if isinstance(image, Image.Image) else image.shape[-2:]
    )
    places = np.sort(rng.uniform(0, 1, (boxes, 2, 2)), axis=1) * (width, height)
    corners = torch.tensor(places.reshape(boxes, 4), dtype=torch.float32)
    made = tv_tensors.BoundingBoxes(corners, format="XYXY", canvas_size=(height, width))
    points = torch.tensor(rng.uniform(0, 1, (boxes, 3, 2)) * (width, height), dtype=torch.float32)
    return {
        "image": image,
        "boxes": v2.functional.convert_bounding_box_format(made, new_format=box_format),
        "labels": torch.arange(boxes),
        "masks": tv_tensors.Mask(
            torch.from_numpy(rng.integers(0, 5, (boxes, height, width), dtype=np.uint8))
        ),
        "keypoints": tv_tensors.KeyPoints(points, canvas_size=(height, width)),
        "name": "a sample",
        "more": [1.5, torch.ones(3), (None, np.zeros(2).sum())],
    }
