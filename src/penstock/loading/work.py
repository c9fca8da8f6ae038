"""What is done to the samples of a data set and delivered of them, as its user asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.data.beside import Beside, open_beside
from penstock.data.open_data import NEAR, Far, open_loader_data
from penstock.errors import LoaderError
from penstock.limits import Limits
from penstock.loading.deliver import Delivery, delivery_of
from penstock.loading.options import OutputOptions, RunOptions, element_of_batches
from penstock.loading.to_library import require_library
from penstock.loading.to_torch import torch_is_installed
from penstock.planner.plan import Plan, as_written
from penstock.reference.libraries import open_library
from penstock.reference.libraries.library import ImageLibrary
from penstock.transforms.targets import Targets
from penstock.transforms.values import Layout
from penstock.translation.transforms.lines import Translation
from penstock.translation.transforms.translate import translate


@dataclass(frozen=True, slots=True)
class Asked:
    """What samples become; the names are arguments of `Loader`, which describes them."""

    transform: Any = None
    targets: Targets | str | None = None
    masks: Any = None
    mask_fill: int = 0
    background: bool = True
    columns: Sequence[str] | None = None
    as_dict: bool | Mapping[str, str] = False
    dtype: Any = None
    layout: Layout = "chw"


@dataclass(frozen=True, slots=True)
class Work:
    """The same, read and checked: the data with what goes beside it, and the plan for it."""

    beside: Beside
    plan: Plan
    output: OutputOptions
    delivery: Delivery
    translation: Translation
    library: ImageLibrary[Any] | None  # that does the work instead of the core


def open_work(
    data: Any,
    labels: Any,
    asked: Asked,
    running: RunOptions,
    library: str | None,
    limits: Limits,
    far: Far = NEAR,
) -> Work:
    """Open the data, and find out what is to be done; `library` is the `output` of `Loader`.

    Raises now what some batch would otherwise raise later.
    """
    translated = translate(asked.transform)
    written = as_written(translated.transform)
    element = element_of_batches(written.final, asked.dtype)
    planned = written.with_element(element)
    chosen: Any = library or ("torch" if torch_is_installed() else "numpy")
    output = OutputOptions(element, asked.layout, chosen, len(written.views))
    require_library(output.library)
    other_library = None if running.backend == "native" else open_library(running.backend)
    beside = open_beside(
        open_loader_data(data, labels, asked.masks, limits, far),
        targets=asked.targets,
        masks=asked.masks,
        mask_fill=asked.mask_fill,
        background=asked.background,
        columns=asked.columns,
        limits=replace(limits, pixels=running.pixel_limit),
    )
    if planned.views and beside.follows_images:
        raise LoaderError(
            "Loader: MultiView makes several images of a sample, and this data set has boxes, "
            "keypoints or masks, which cannot follow all of them. Use targets='labels' or "
            "targets='none' to leave those out."
        )
    delivery = delivery_of(beside, written, as_dict=asked.as_dict)
    return Work(beside, planned, output, delivery, translated.translation, other_library)
