"""Accelerators that can be emulated by name: how many images they train on per second.

Each rate is of one accelerator in training, with images of 224 x 224 pixels (300 x 300 for SSD),
and says where it was published. Where none is published, it is derived from one that is, in one of
two ways, and says so:

- *by bandwidth*: training of these models mostly waits for the accelerator's memory, so the rate
  is scaled by the memory bandwidths of the data sheets. This can be tried on published rates of
  ResNet-50: from the V100's, it gives 1,248 images/s for the RTX 3090 (published: 1,218) and 2,719
  for the A100 (published: 2,470).
- *by model*: the rate of another model on the same accelerator, times the ratio of both models on
  the RTX 3090. EfficientNet-B0 shows how rough that is: on the A100 it would be 43 % too fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from penstock.errors import AnalysisError

EMULATED = "emulated:"
Precision = Literal["mixed", "tf32", "float32"]

_EXAMPLES = "https://github.com/NVIDIA/DeepLearningExamples/tree/729963dd/"
_RESNET = _EXAMPLES + "PyTorch/Classification/ConvNets/resnet50v1.5"
_EFFICIENTNET = _EXAMPLES + "PyTorch/Classification/ConvNets/efficientnet"
_SSD = _EXAMPLES + "PyTorch/Detection/SSD"
_TIMM = (
    "https://github.com/huggingface/pytorch-image-models/blob/aa4b5850/results/"
    "benchmark-train-amp-nhwc-pt112-cu113-rtx3090.csv"
)
_MLPERF = (
    "https://github.com/mlcommons/training_results_v3.0/blob/9f08e30c/NVIDIA/results/"
    "dgxh100_ngc23.04_mxnet/resnet/result_0.txt"
)
_LAMBDA = "https://lambdalabs.com/blog/2080-ti-deep-learning-benchmarks"

# Gigabytes per second, of NVIDIA's data sheets.
_BANDWIDTH = {
    "t4": 320,
    "titan-rtx": 672,
    "v100": 900,  # SXM2
    "rtx-3090": 936,
    "a100": 2039,  # SXM4, 80 GB
    "h100": 3350,  # SXM5
}


@dataclass(frozen=True, slots=True)
class AcceleratorRate:
    """How fast an accelerator trains a model, and how that is known."""

    accelerator: str
    model: str
    precision: Precision
    images_per_s: float
    source: str  # the address of what was published
    note: str = ""  # how it was measured, where that matters
    derived: str = ""  # how it follows from what was published; nothing if it is that itself

    @property
    def label(self) -> str:
        """Say what it is, as in "a100, resnet50, mixed precision"."""
        precision = "mixed precision" if self.precision == "mixed" else self.precision
        return f"{self.accelerator}, {self.model}, {precision}"

    def describe(self) -> str:
        """Say the rate and where it comes from, in one line."""
        notes = "".join(f"; {note}" for note in (self.derived, self.note) if note)
        kind = "derived" if self.derived else "published"
        return f"{self.images_per_s:,.0f} images/s ({self.label}), {kind}: {self.source}{notes}"


_PUBLISHED = (
    AcceleratorRate("v100", "resnet50", "mixed", 1200, _RESNET),
    AcceleratorRate("v100", "resnet50", "float32", 367, _RESNET),
    AcceleratorRate("v100", "efficientnet_b0", "mixed", 1301, _EFFICIENTNET),
    AcceleratorRate("v100", "efficientnet_b0", "float32", 655, _EFFICIENTNET),
    AcceleratorRate("v100", "ssd300_resnet50", "mixed", 322.81, _SSD),
    AcceleratorRate("v100", "ssd300_resnet50", "float32", 107.22, _SSD),
    AcceleratorRate("a100", "resnet50", "mixed", 2470, _RESNET),
    AcceleratorRate("a100", "resnet50", "tf32", 938, _RESNET),
    AcceleratorRate("a100", "efficientnet_b0", "mixed", 2489, _EFFICIENTNET),
    AcceleratorRate("a100", "efficientnet_b0", "tf32", 1078, _EFFICIENTNET),
    AcceleratorRate("a100", "ssd300_resnet50", "mixed", 662.91, _SSD),
    AcceleratorRate("a100", "ssd300_resnet50", "tf32", 364.27, _SSD),
    AcceleratorRate(
        *("h100", "resnet50", "mixed", 7009, _MLPERF),
        note="an eighth of what eight of them did in MLPerf 3.0, with code made for it; "
        "plain PyTorch is slower",
    ),
    AcceleratorRate("rtx-3090", "resnet18", "mixed", 3481.78, _TIMM),
    AcceleratorRate("rtx-3090", "resnet50", "mixed", 1218.01, _TIMM),
    AcceleratorRate("rtx-3090", "mobilenet_v2", "mixed", 2313.1, _TIMM),
    AcceleratorRate("rtx-3090", "mobilenet_v3_large", "mixed", 2732.43, _TIMM),
    AcceleratorRate("rtx-3090", "efficientnet_b0", "mixed", 1751.72, _TIMM),
    AcceleratorRate("rtx-3090", "vit_b_16", "mixed", 392.99, _TIMM),
    AcceleratorRate("titan-rtx", "resnet50", "float32", 330, _LAMBDA, note="with TensorFlow 1.12"),
)


def _published(accelerator: str, model: str, precision: Precision) -> AcceleratorRate:
    asked = (accelerator, model, precision)
    return next(one for one in _PUBLISHED if (one.accelerator, one.model, one.precision) == asked)


def _by_bandwidth(accelerator: str, model: str, known_on: str) -> AcceleratorRate:
    known = _published(known_on, model, "mixed")
    rate = known.images_per_s * _BANDWIDTH[accelerator] / _BANDWIDTH[known_on]
    derived = f"by memory bandwidth from {known.images_per_s:,.0f} of the {known_on}"
    return AcceleratorRate(accelerator, model, "mixed", round(rate), known.source, derived=derived)


def _by_model(
    accelerator: str, model: str, precision: Precision, known: str = "resnet50"
) -> AcceleratorRate:
    base = _published(accelerator, known, precision)
    ours, theirs = (_published("rtx-3090", name, "mixed") for name in (model, known))
    rate = base.images_per_s * ours.images_per_s / theirs.images_per_s
    derived = (
        f"from {base.images_per_s:,.0f} for {known}, times the ratio of the models on the "
        f"{ours.accelerator} ({ours.source})"
    )
    return AcceleratorRate(
        accelerator, model, precision, round(rate), base.source, note=base.note, derived=derived
    )


# The first of an accelerator and a model is meant where no precision is named.
ACCELERATOR_RATES: tuple[AcceleratorRate, ...] = (
    *_PUBLISHED,
    _by_bandwidth("t4", "resnet50", "v100"),
    _by_bandwidth("t4", "mobilenet_v2", "rtx-3090"),
    _by_bandwidth("v100", "mobilenet_v2", "rtx-3090"),
    _by_bandwidth("a100", "mobilenet_v2", "rtx-3090"),
    _by_bandwidth("h100", "mobilenet_v2", "rtx-3090"),
    _by_model("titan-rtx", "mobilenet_v2", "float32"),
    _by_model("v100", "mobilenet_v2", "float32"),
    _by_model("a100", "mobilenet_v2", "tf32"),
)


def accelerator_names() -> list[str]:
    """Return every name that `find_accelerator` knows, without "emulated:"."""
    names: dict[str, None] = {}
    for rate in ACCELERATOR_RATES:
        short = f"{rate.accelerator}/{rate.model}"
        names[short if short not in names else f"{short}/{rate.precision}"] = None
    return sorted(names)


def find_accelerator(name: str) -> AcceleratorRate:
    """Return the rate of `ACCELERATOR/MODEL` or `ACCELERATOR/MODEL/PRECISION`.

    "emulated:" before it does not matter, nor do capitals or `_` for `-` in the accelerator.
    """
    accelerator, _, rest = name.removeprefix(EMULATED).lower().partition("/")
    model, _, precision = rest.partition("/")
    accelerator = accelerator.strip().replace("_", "-").replace(" ", "-")
    for rate in ACCELERATOR_RATES:
        is_asked = (rate.accelerator, rate.model) == (accelerator, model)
        if is_asked and precision in {"", rate.precision}:
            return rate
    known = accelerator_names()
    asked = "/".join(part for part in (accelerator, model, precision) if part)
    near = get_close_matches(asked, known, n=1)
    hint = f" Did you mean {EMULATED}{near[0]}?" if near else ""
    raise AnalysisError(
        f"device {name!r}: no such accelerator is known.{hint} Known are {', '.join(known)}. "
        f"For any other, give its rate: {EMULATED}1000 takes 1,000 images per second."
    )
