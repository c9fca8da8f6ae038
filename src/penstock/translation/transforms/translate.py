"""A transform that a Loader is given, with ours in the place of other libraries' transforms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock import transforms as T
from penstock.errors import TransformError, TranslationError
from penstock.transforms.containers import as_transform, flatten
from penstock.transforms.conversions import Conversion, Identity, moves_bytes_only
from penstock.transforms.op import BoxOp, Transform
from penstock.transforms.python_step import PythonStep, library_of
from penstock.transforms.values import FinalOp
from penstock.translation.transforms.identify import (
    class_name,
    full_name,
    is_of_albumentations,
    torchvision_generation,
)
from penstock.translation.transforms.lines import Line, Translation
from penstock.translation.transforms.pipeline import Pipeline, Stage

_TIMM_MIXUP = "timm.data.mixup.Mixup"
_TIMM_MIXUP_ARGUMENTS = (
    *("mixup_alpha", "cutmix_alpha", "cutmix_minmax", "switch_prob", "mode"),
    *("correct_lam", "label_smoothing", "num_classes"),
)


@dataclass(frozen=True, slots=True)
class Translated:
    """A transform of ours and of functions of the user's, and what it was made from."""

    transform: Any
    translation: Translation  # without lines if all was ours from the start


def translate(transform: Any) -> Translated:
    """Return `transform` with ours in it; TranslationError gives all reasons why there is none.

    Ours compute what torchvision's do on Pillow images, to the bit. Functions of the user's stay.
    """
    if transform is None or not _has_foreign(transform):
        return Translated(transform, Translation(()))
    if any(isinstance(step, T.MultiView) for step in flatten(transform)):
        return _translate_views(transform)
    pipeline = Pipeline(for_loader=True)
    for step in _single_steps(transform):
        with pipeline.refusing(step):
            _read_step(step, pipeline)
    whole = None
    try:
        whole = _whole(pipeline)
    except TransformError as error:
        if not pipeline.log.has_refusals:
            pipeline.log.refuse("the transform as a whole", str(error))
    reasons = pipeline.log.translation().reasons
    if reasons:
        listed = "".join(f"\n- {reason}" for reason in reasons)
        raise TranslationError(f"Loader: ours cannot stand for this transform:{listed}", reasons)
    return Translated(whole, pipeline.log.translation())


def translate_batch(given: Any) -> Any:
    """Return a transform of batches with ours in the place of torchvision's or timm's."""
    generation, name = torchvision_generation(given), class_name(given)
    if generation == 2 and name in ("CutMix", "MixUp"):
        return getattr(T, name)(alpha=given.alpha, num_classes=given.num_classes)
    if generation is not None and name == "RandomChoice":
        return T.RandomChoice([translate_batch(inner) for inner in given.transforms], given.p)
    if full_name(type(given)) == _TIMM_MIXUP:
        if not given.mixup_enabled:
            raise TransformError("batch_transform: timm's Mixup is switched off. Leave it out.")
        arguments = {argument: getattr(given, argument) for argument in _TIMM_MIXUP_ARGUMENTS}
        return T.MixUp.timm(prob=given.mix_prob, **arguments)
    return given


def _translate_views(transform: Any) -> Translated:
    """Each view on its own; what stands beside MultiView must be ours."""
    steps: list[Any] = []
    lines: list[Line] = []
    for step in flatten(transform):
        if isinstance(step, T.MultiView):
            views = [_translate_view(number, view) for number, view in enumerate(step.views, 1)]
            steps.append(T.MultiView([view.transform for view in views]))
            lines += [line for view in views for line in view.translation.lines]
        elif isinstance(step, PythonStep) and _has_foreign(step):
            reason = f"{class_name(step.function)}: stands beside MultiView, and is not ours"
            raise TranslationError(
                f"Loader: {reason}. Put it into every view, or write ours of that name.", (reason,)
            )
        else:
            steps.append(step)
    return Translated(T.Compose(steps), Translation(tuple(lines)))


def _translate_view(number: int, view: Any) -> Translated:
    try:
        return translate(view)
    except TranslationError as error:
        reasons = tuple(f"view {number} of MultiView: {reason}" for reason in error.reasons)
        listed = "".join(f"\n- {reason}" for reason in reasons)
        raise TranslationError(
            f"Loader: ours cannot stand for this transform:{listed}", reasons
        ) from error


def _has_foreign(transform: Any) -> bool:
    """Whether a library's transform is in it, even if it is an empty composition."""
    return any(
        any(_has_foreign(view) for view in op.views)
        if isinstance(op, T.MultiView)
        else type(op) is PythonStep and _is_foreign(op.function)
        for op in flatten(transform)
    )


def _single_steps(given: Any) -> Iterator[Any]:
    """The steps in the order written, whoever composed them."""
    # Late, as below: a pipeline of ours alone needs no readers of others.
    from penstock.translation.transforms.read_steps import flatten_steps

    for step in flatten_steps((given,)):
        if isinstance(step, T.Compose):
            for inner in step.transforms:
                yield from _single_steps(inner)
        elif type(step) is PythonStep and library_of(step.function) is not None:
            yield from _single_steps(step.function)
        elif _is_lambda(step):
            yield from _single_steps(step.lambd)
        else:
            yield step


def _is_lambda(step: Any) -> bool:
    """Whether it is torchvision's way to call a function; one for some types only is not taken."""
    is_one = torchvision_generation(step) is not None and class_name(step) == "Lambda"
    return is_one and getattr(step, "types", (object,)) == (object,)


def _is_foreign(step: Any) -> bool:
    """Whether a library brought it, or the user derived it from one of Albumentations'.

    Those are called with `image=`, so they cannot be taken for functions of an image.
    """
    return not isinstance(step, Transform) and (
        library_of(step) is not None or is_of_albumentations(step)
    )


def _read_step(step: Any, pipeline: Pipeline) -> None:
    if not _is_foreign(step):
        _read_ours(as_transform(step), pipeline)
        return
    if is_of_albumentations(step) and pipeline.has_rgb_pillow:
        pipeline.stage = Stage.ARRAY  # np.array(image), which nobody can write here
    from penstock.translation.transforms.read_steps import read_step

    read_step(step, pipeline)


def _read_ours(step: Any, pipeline: Pipeline) -> None:
    """Append one of ours; refuse it where torchvision's of that name would compute otherwise."""
    if pipeline.stage == Stage.ARRAY:
        pipeline.stage = Stage.PILLOW
    if isinstance(step, Identity):
        return
    if isinstance(step, Conversion):
        from penstock.translation.transforms.read_torchvision import read_value_step

        read_value_step(step, pipeline)
    elif isinstance(step, FinalOp):
        _read_final(step, pipeline)
    elif isinstance(step, T.RandomErasing) and pipeline.stage == Stage.NUMBERS:
        pipeline.erasings.append(step)
    elif isinstance(step, BoxOp) or _gives_the_same(step, pipeline):
        pipeline.add(step)
    else:
        raise TransformError(
            f"it meets {pipeline.stage.value}, where torchvision does not compute as on a Pillow "
            "image. Put it before what makes the tensor."
        )


def _gives_the_same(step: Any, pipeline: Pipeline) -> bool:
    """Whether torchvision's transform of that name would give the same as ours at this point."""
    if pipeline.stage == Stage.PILLOW:
        return True
    is_erasing = isinstance(step, T.RandomErasing) and not isinstance(step.value, str)
    return pipeline.stage == Stage.BYTES and (moves_bytes_only(step) or is_erasing)


def _read_final(step: FinalOp, pipeline: Pipeline) -> None:
    if isinstance(step, T.ToTensor) and pipeline.stage != Stage.PILLOW:
        raise TransformError(f"it meets {pipeline.stage.value}. Leave it out.")
    if isinstance(step, T.Normalize) and pipeline.erasings:
        pipeline.normalise(step.mean, step.std)
    else:
        pipeline.add_values(step)
        pipeline.is_normalised = pipeline.is_normalised or isinstance(step, T.Normalize)


def _whole(pipeline: Pipeline) -> Any:
    if pipeline.is_gray:
        raise TransformError(
            "images end with one channel, and the loader's have three. Give Grayscale "
            "num_output_channels=3, and take images[:, :1] in your loop."
        )
    return pipeline.transform()
