"""Which of torchvision's tests do not apply, and why.

Further reasons are found out while a test runs: what it hands over has no place in penstock
(`samples`), it asks for TorchScript (`adapter`), or it passes without ever calling a transform of
ours (`judge`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.outside.samples import ROTATED_BOXES, UPRIGHT

Params = Mapping[str, Any]
Condition = Callable[[Params], bool]

REGISTRY = "looks into torchvision's private registry of kernels"
REGISTERED = "a transform that finds a registered kernel: ours take no classes of the user's own"
TORCH_CUBIC = "torchvision fails it too: its tensors and Pillow's images differ by more than 2"
MACHINERY = "torchvision's own machinery: kernels, dispatch, shapes, conversions of tensors"
NOT_OURS = "a transform that penstock does not have"
FINAL_VALUES = "values of float tensors: penstock's final pass; see tests/parity/test_native_*"
CLASS_NUMBERS = "labels other than class numbers: penstock's loader has no others to mix"
USER_FUNCTION = "a user's function inside RandomApply or RandomOrder: refused on purpose"
COMPOSE = "a user's function inside Compose: runs in penstock's loader, not here"
FUNCTIONS_ONLY = "about functions, which the run without --called judges"
WARNS_TOO = "expects no other warning than torchvision's: ours gives one too, in its own words"
MOCKED = "replaces make_params by a mock"
EMPTY = "expects that containers of no transforms are refused: ours do nothing then"
ERASING_WARNS = "expects a warning that RandomErasing leaves boxes alone: ours gives none"
ERASING_EARLY = "RandomErasing of four values: ours refuses when it is made, not when it is used"
ERASING_NOISE = "noise of RandomErasing is penstock's own; see tests/parity/test_noise.py"
TENSOR_GRAY = "compares gray with torchvision's formula for tensors; ours is Pillow's"
SMALL_CENTRE = "CenterCrop of a smaller image: torchvision's boxes are a pixel off its own image"
OWN_DRAWS = "expects how many boxes are left by torch's random numbers for one seed"


def _always(params: Params) -> bool:
    del params
    return True


def _is_cubic(params: Params) -> bool:
    mode = getattr(params["interpolation"], "value", params["interpolation"])
    return mode in {"bicubic", "lanczos"} and not params["use_max_size"]


def _is_compose(params: Params) -> bool:
    return getattr(params["transform_cls"], "__name__", None) == "Compose"


def _has_rotated_boxes(params: Params) -> bool:
    return params["old_format"].value not in UPRIGHT


# Tests by "Class::function" (those outside of classes have none); the first line that fits counts.
_FUNCTIONS: tuple[tuple[str, Condition, str], ...] = (
    (r"TestRegisterKernel::test_register_kernel", _always, REGISTERED),
    (r"TestGetKernel::test_(exact_match|.*subclass)", _always, REGISTRY),
    (
        r"TestResize::test_image_correctness",
        lambda params: params["size"] in ([12, 13], (12, 13)) and _is_cubic(params),
        TORCH_CUBIC,
    ),
)
_TRANSFORMS: tuple[tuple[str, Condition, str], ...] = (
    (r"Test(ToDtype|Normalize)::.*", _always, FINAL_VALUES),
    (r"Test(ShapeGetters|RegisterKernel|GetKernel|Utils|Lambda)::.*", _always, MACHINERY),
    (r"Test(ToPureTensor|ToImage|ToPILImage|ToTensor|PILToTensor)::.*", _always, MACHINERY),
    (r"::test_(alias|pure_tensor|labels_getter|parallelogram).*", _always, MACHINERY),
    (r"Test(FiveTenCrop|GrayscaleToRgb|JPEG|LinearTransform)::.*", _always, NOT_OURS),
    (r"Test(RandomResize|UniformTemporalSubsample)::.*", _always, NOT_OURS),
    (r"Test(ClampKeyPoints|SanitizeKeyPoints|SetClampingMode)::.*", _always, NOT_OURS),
    (r"TestCutMixMixUp::test_error", _always, CLASS_NUMBERS),
    (r"TestCutMixMixUp::test_s.*", lambda params: params["one_hot_labels"], CLASS_NUMBERS),
    (r"TestContainerTransforms::test_packed_unpacked", _is_compose, COMPOSE),
    (r"TestContainerTransforms::test_packed_unpacked", _always, USER_FUNCTION),
    (
        r"TestConvertBoundingBoxFormat::test_(transform|strings|correctness)",
        _has_rotated_boxes,
        ROTATED_BOXES,
    ),
    (r"TestRandomIoUCrop::test__transform.*", _always, MOCKED),
    (r"TestContainerTransforms::test_errors", _always, EMPTY),
    (r"TestErase::test_transform", _always, ERASING_WARNS),
    (r"TestErase::test_transform_errors", _always, ERASING_EARLY),
    (r"TestErase::.*correctness", lambda params: params["value"] == "random", ERASING_NOISE),
    (
        r"TestRgbToGrayscale::test_transform",
        lambda params: params["make_input"].__name__ == "make_image_tensor",
        TENSOR_GRAY,
    ),
    (
        r"TestCenterCrop::test_(bounding_boxes|keypoints)_.*",
        lambda params: params["output_size"] == (19, 14),  # the one that lacks 3 pixels
        SMALL_CENTRE,
    ),
    (
        r"::test_detection_preset",
        lambda params: params["sanitize"] and params["data_augmentation"].startswith("ssd"),
        OWN_DRAWS,
    ),
)


_CALLS: tuple[tuple[str, Condition, str], ...] = (
    (r"TestRandomIoUCrop::test__transform.*", _always, MOCKED),
    (r"TestContainerTransforms::test_errors", _always, EMPTY),
    (r"TestErase::test_transform_errors", _always, ERASING_EARLY),
    (r"TestToDtype::test_errors_warnings", _always, WARNS_TOO),
    (
        r"TestResize::test_image_correctness",
        lambda params: params["size"] in ([12, 13], (12, 13)) and _is_cubic(params),
        TORCH_CUBIC,
    ),
    (r"Test(RegisterKernel|GetKernel|ShapeGetters|Utils)::.*", _always, FUNCTIONS_ONLY),
)


def reason_to_skip_calls(item: Any) -> str | None:
    """The same, where transforms of ours are called in the places of torchvision's."""
    if is_functional(item):
        return FUNCTIONS_ONLY
    params = _params(item)
    for pattern, holds, reason in _CALLS:
        if re.fullmatch(pattern, _name(item)) and holds(params):
            return reason
    return None


def reason_to_skip(item: Any) -> str | None:
    """Why a collected test does not apply, as far as its name and its parameters say."""
    params = _params(item)
    for pattern, holds, reason in _FUNCTIONS if is_functional(item) else _TRANSFORMS:
        if re.fullmatch(pattern, _name(item)) and holds(params):
            return reason
    return None


# Tests of functions and kernels by their names; others are told by what they are given.
_FUNCTIONAL = (
    r".*::test_(kernel|functional|.*_functional).*",
    r"Test(Adjust(Brightness|Contrast|Gamma|Hue|Saturation)|PermuteChannels)::.*",
    r"Test(ShapeGetters|RegisterKernel|GetKernel)::.*",
)


def is_functional(item: Any) -> bool:
    """Whether a test is about functions, and not about transforms."""
    params = _params(item)
    is_function = (getattr(params.get("fn"), "__module__", None) or "").startswith("penstock.")
    is_function = is_function or params.get("fn_type") == "functional"
    return is_function or any(re.fullmatch(pattern, _name(item)) for pattern in _FUNCTIONAL)


def judges_arguments(item: Any) -> bool:
    """Whether a test looks at the arguments of our functions, without calling them."""
    return bool(item.originalname == "test_functional_signature")


def _name(item: Any) -> str:
    owner = "" if item.cls is None else item.cls.__name__
    return f"{owner}::{item.originalname}"


def _params(item: Any) -> Params:
    params: Params = item.callspec.params if hasattr(item, "callspec") else {}
    return params
