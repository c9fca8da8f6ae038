"""torchvision's names and arguments, without torchvision and before torch."""

import inspect
import subprocess
import sys

import pytest

from penstock.transforms import functional as F


def public(module):
    return [name for name in dir(module) if not name.startswith("_")]


def test_names_are_torchvisions(theirs):
    assert sorted(F.__all__) == public(theirs)
    assert public(F) == sorted(F.__all__)
    assert all(getattr(F, name) for name in F.__all__)
    with pytest.raises(AttributeError, match="no attribute 'no_such_kernel'"):
        _ = F.no_such_kernel


def test_arguments_are_torchvisions(theirs):
    for name in F.__all__:
        if not inspect.isfunction(getattr(theirs, name)):
            continue
        got, expected = (arguments(getattr(module, name)) for module in (F, theirs))
        if name.startswith("to_dtype"):  # ours say None, since their default is of torch
            assert got.pop("dtype") is None
            expected.pop("dtype")
        assert got == expected, name


def arguments(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: getattr(p.default, "value", p.default) for p in parameters}


def test_kernels_on_videos_have_their_own_names():
    assert F.resize_video.__name__ == "resize_video"
    assert next(iter(inspect.signature(F.resize_video).parameters)) == "video"
    assert list(inspect.signature(F.horizontal_flip_mask).parameters) == ["mask"]


def run(code):
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Blocker())
"""


def test_pillow_images_and_arrays_need_no_torch():
    run(
        "BLOCKED = {'torch', 'torchvision'}"
        + BLOCK
        + """
import numpy as np
from PIL import Image
from penstock.errors import TransformError
from penstock.transforms import functional as F
pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
image = Image.fromarray(pixels)
corners = [[0, 0], [29, 0], [29, 19], [0, 19]], [[2, 1], [25, 3], [26, 18], [1, 17]]
for given in (image, pixels):
    assert type(F.resize(given, 10)) is type(given)
    for out in (
        F.crop(given, 1, 2, 5, 6), F.pad(given, 2), F.rotate(given, 20), F.equalize(given),
        F.affine(given, 10, [1, 2], 1.2, [3, 4]), F.adjust_hue(given, 0.2), F.jpeg(given, 50),
        F.perspective(given, *corners), F.permute_channels(given, [2, 1, 0]),
    ):
        assert isinstance(out, (Image.Image, np.ndarray))
    assert F.get_size(given) == [20, 30]
    assert not F.is_pure_tensor(given)
    try:
        F.gaussian_blur(given, 3)
    except TransformError as error:
        assert "gaussian_blur: needs torch" in str(error)
    else:
        raise AssertionError
assert F.to_pil_image(pixels).tobytes() == image.tobytes()
"""
    )


def test_tensors_need_no_torchvision():
    run(
        "BLOCKED = {'torchvision'}"
        + BLOCK
        + """
import torch
from PIL import Image
from penstock.transforms import functional as F
image = torch.arange(3 * 8 * 9, dtype=torch.uint8).reshape(3, 8, 9)
assert F.resize(image, [4, 4]).shape == (3, 4, 4)
assert type(F.to_image(Image.new("RGB", (4, 5)))) is torch.Tensor
boxes = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
assert F.convert_bounding_box_format(boxes, "XYWH", "XYXY").tolist() == [[1, 2, 4, 6]]
assert F.clamp_bounding_boxes(boxes * 3, "XYXY", (8, 9), "soft").tolist() == [[3, 6, 9, 8]]
assert F.resize_bounding_boxes(boxes, (8, 8), (16, 16))[0].tolist() == [[2, 4, 6, 8]]
assert F.horizontal_flip_mask(image)[0, 0, 0] == 8
try:
    F.register_kernel(F.resize, dict)
except ValueError as error:
    assert "tv_tensors.TVTensor" in str(error)
assert "torchvision" not in sys.modules
"""
    )


def test_torch_is_imported_late():
    printed = run(
        """
import sys
import numpy as np
from penstock.transforms import functional as F
F.resize(np.zeros((9, 9, 3), np.uint8), 4)
print("torch" in sys.modules, "torchvision" in sys.modules)
"""
    )

    assert printed.split() == ["False", "False"]
