"""Parameters for every kind of effect, which any size of image can take."""

from typing import Any

from penstock._core import Effect

_WARP = {"filter": 2, "fill": 0xFF8800}
_BLUR = {"kernel_width": 1, "kernel_height": 1, "sigma_across": 1.0, "sigma_down": 1.0}
_BEND = {"alpha_across": 5, "alpha_down": 5, "sigma_across": 1, "sigma_down": 1}

EXAMPLES: dict[Effect, dict[str, Any]] = {
    Effect.NONE: {},
    Effect.BRIGHTNESS: {"factor": 1.5},
    Effect.CONTRAST: {"factor": 0.5},
    Effect.SATURATION: {"factor": 2.5},
    Effect.HUE: {"factor": -0.2},
    Effect.SHARPNESS: {"factor": 1.5},
    Effect.POSTERIZE: {"bits": 2},
    Effect.SOLARIZE: {"threshold": 99},
    Effect.SOLARIZE_ADD: {"amount": 60, "threshold": 128},
    Effect.INVERT: {},
    Effect.AUTOCONTRAST: {},
    Effect.EQUALIZE: {},
    Effect.GRAYSCALE: {},
    Effect.PERMUTE_CHANNELS: {"order": (2, 0, 1)},
    Effect.AFFINE: {"matrix": (0.9, 0.1, 0, -0.1, 1.1, 0), **_WARP},
    Effect.PERSPECTIVE: {"matrix": (0.9, 0.1, 0, 0, 1, 0, 0.01, 0.001), "filter": 3, "fill": 77},
    Effect.GAUSSIAN_BLUR: _BLUR,
    Effect.GAUSSIAN_NOISE: {"mean": 0, "sigma": 0.1, "clip": True, "key": (12, 34)},
    Effect.ERASE: {
        "top": 0,
        "left": 0,
        "height": 1,
        "width": 1,
        "value": (9, 9, 9),
        "by_noise": False,
    },
    Effect.ELASTIC: {**_BEND, **_WARP, "key": (12, 34)},
    Effect.MIX_BEGIN: {"weight": 0.5},
    Effect.MIX_ADD: {"weight": 0.5},
    Effect.MIX_END: {},
    Effect.BOX_BLUR: {"radius_across": 1.3, "radius_down": 0.4, "passes": 3},
    Effect.TENSOR_BRIGHTNESS: {"factor": 1.3},
    Effect.TENSOR_CONTRAST: {"factor": 0.7},
    Effect.TENSOR_SATURATION: {"factor": 1.4},
    Effect.TENSOR_HUE: {"factor": -0.2},
    Effect.TENSOR_GRAYSCALE: {},
    Effect.OPENCV_GRAYSCALE: {},
}
