"""Forty pipelines to check predicted costs with; the calibration runs none of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from penstock import transforms as T

PHOTOS, LARGE, TINY = "photos", "large", "tiny"
Form = Literal["files", ".pen"]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is loaded, and how."""

    name: str
    data: str  # PHOTOS, LARGE or TINY
    form: Form
    ops: tuple[Any, ...]
    fidelity: str = "exact"
    plan: bool = True

    @property
    def transform(self) -> T.Compose:
        """The ops as a loader takes them."""
        return T.Compose(list(self.ops))

    @property
    def setting(self) -> str:
        """How it is planned, for a table."""
        return self.fidelity if self.plan else "as written"


_NORMALIZE = T.Normalize(T.IMAGENET_MEAN, T.IMAGENET_STD)
_CROP = T.RandomResizedCrop(224)
_FLIP = T.RandomHorizontalFlip()
_JITTER = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
_BICUBIC = T.InterpolationMode.BICUBIC
_LANCZOS = T.InterpolationMode.LANCZOS
_BILINEAR = T.InterpolationMode.BILINEAR


def _simclr(size: int) -> tuple[Any, ...]:
    return (
        T.RandomResizedCrop(size),
        _FLIP,
        T.RandomApply([T.ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8),
        T.RandomGrayscale(0.2),
        T.GaussianBlur(23, (0.1, 2.0)),
        _NORMALIZE,
    )


def _study(size: int) -> tuple[Any, ...]:
    """Flip, rotate, jitter, crop, resize: in the order in which they came to mind."""
    crop = T.RandomCrop(250, pad_if_needed=True)
    return (_FLIP, T.RandomRotation(30), _JITTER, crop, T.Resize((size, size)))


def pipelines() -> tuple[Pipeline, ...]:
    """All of them."""
    return (
        # Crops and resizes.
        Pipeline("crop, flip, normalize", PHOTOS, "files", (_CROP, _FLIP, _NORMALIZE)),
        Pipeline("crop, flip, normalize", PHOTOS, ".pen", (_CROP, _FLIP, _NORMALIZE)),
        Pipeline("crop, flip, normalize", PHOTOS, ".pen", (_CROP, _FLIP, _NORMALIZE), "fast"),
        Pipeline(
            "resize 256, centre 224, normalize",
            PHOTOS,
            "files",
            (T.Resize(256), T.CenterCrop(224), _NORMALIZE),
        ),
        Pipeline("resize 256, centre 224", PHOTOS, ".pen", (T.Resize(256), T.CenterCrop(224))),
        Pipeline("crop 96", PHOTOS, ".pen", (T.RandomResizedCrop(96),)),
        Pipeline(
            "crop 384 bicubic",
            PHOTOS,
            ".pen",
            (T.RandomResizedCrop(384, interpolation=_BICUBIC), _NORMALIZE),
        ),
        Pipeline(
            "resize 160x160 lanczos",
            PHOTOS,
            "files",
            (T.Resize((160, 160), interpolation=_LANCZOS),),
        ),
        Pipeline("random crop 224", PHOTOS, ".pen", (T.RandomCrop(224, pad_if_needed=True), _FLIP)),
        Pipeline("resize 512x512", PHOTOS, ".pen", (T.Resize((512, 512)), _NORMALIZE)),
        Pipeline(
            "pad 40, crop 200, float16",
            PHOTOS,
            ".pen",
            (
                T.Pad(40, padding_mode="reflect"),
                T.RandomCrop(200, pad_if_needed=True),
                T.ToDtype("float16", scale=True),
            ),
        ),
        Pipeline("resize 128, gray", PHOTOS, "files", (T.Resize((128, 128)), T.Grayscale(3))),
        # Policies and colour.
        Pipeline("RandAugment", PHOTOS, "files", (_CROP, _FLIP, T.RandAugment(), _NORMALIZE)),
        Pipeline("RandAugment", PHOTOS, ".pen", (_CROP, _FLIP, T.RandAugment(), _NORMALIZE)),
        Pipeline(
            "RandAugment", PHOTOS, ".pen", (_CROP, _FLIP, T.RandAugment(), _NORMALIZE), plan=False
        ),
        Pipeline(
            "TrivialAugment",
            PHOTOS,
            ".pen",
            (
                T.RandomResizedCrop(176),
                _FLIP,
                T.TrivialAugmentWide(),
                _NORMALIZE,
                T.RandomErasing(0.1),
            ),
        ),
        Pipeline(
            "AutoAugment",
            PHOTOS,
            ".pen",
            (_CROP, T.AutoAugment(interpolation=_BILINEAR), _NORMALIZE),
        ),
        Pipeline("AugMix", PHOTOS, ".pen", (_CROP, T.AugMix(), _NORMALIZE)),
        Pipeline("jitter", PHOTOS, ".pen", (_CROP, _JITTER, _NORMALIZE)),
        Pipeline("jitter before the crop", PHOTOS, "files", (_JITTER, _CROP), plan=False),
        Pipeline("jitter before the crop", PHOTOS, ".pen", (_JITTER, _CROP)),
        Pipeline(
            "equalize, sharpen, solarize",
            PHOTOS,
            ".pen",
            (
                T.Resize((300, 300)),
                T.RandomEqualize(1.0),
                T.RandomAdjustSharpness(2.0, 1.0),
                T.RandomSolarize(128, 1.0),
            ),
        ),
        # Blurs and warps.
        Pipeline("SimCLR", PHOTOS, ".pen", _simclr(224)),
        Pipeline("SimCLR 96", PHOTOS, "files", _simclr(96)),
        Pipeline(
            "blur 9 of whole photos",
            PHOTOS,
            ".pen",
            (T.GaussianBlur(9), T.CenterCrop(200)),
            plan=False,
        ),
        Pipeline(
            "rotate bilinear, crop",
            PHOTOS,
            ".pen",
            (T.RandomRotation(25, interpolation=_BILINEAR), T.CenterCrop(224), _NORMALIZE),
        ),
        Pipeline(
            "rotate bilinear, crop",
            PHOTOS,
            ".pen",
            (T.RandomRotation(25, interpolation=_BILINEAR), T.CenterCrop(224), _NORMALIZE),
            plan=False,
        ),
        Pipeline(
            "affine nearest",
            PHOTOS,
            "files",
            (T.RandomAffine(15, (0.1, 0.1), (0.8, 1.2), 10), T.Resize((224, 224))),
        ),
        Pipeline(
            "perspective",
            PHOTOS,
            ".pen",
            (T.Resize((256, 256)), T.RandomPerspective(0.4, 1.0), _NORMALIZE),
        ),
        Pipeline(
            "elastic",
            PHOTOS,
            ".pen",
            (T.Resize((192, 192)), T.ElasticTransform(40.0, 4.0), _NORMALIZE),
        ),
        Pipeline(
            "SSD-like",
            PHOTOS,
            ".pen",
            (
                T.RandomPhotometricDistort(),
                T.RandomZoomOut(p=0.5),
                T.Resize((300, 300)),
                _FLIP,
                _NORMALIZE,
            ),
        ),
        # The study's order.
        Pipeline("study, 300", PHOTOS, "files", _study(300), plan=False),
        Pipeline("study, 300", PHOTOS, ".pen", _study(300)),
        # Large photos.
        Pipeline("crop, flip, normalize", LARGE, "files", (_CROP, _FLIP, _NORMALIZE)),
        Pipeline("crop, flip, normalize", LARGE, ".pen", (_CROP, _FLIP, _NORMALIZE)),
        Pipeline("resize 448x448", LARGE, ".pen", (T.Resize((448, 448)), _NORMALIZE), "fast"),
        Pipeline("study, 300", LARGE, ".pen", _study(300), plan=False),
        Pipeline("study, 300", LARGE, ".pen", _study(300), "fast"),
        # Tiny images.
        Pipeline(
            "pad, crop, flip, normalize",
            TINY,
            ".pen",
            (T.Pad(4), T.RandomCrop(32), _FLIP, _NORMALIZE),
        ),
        Pipeline("RandAugment", TINY, ".pen", (T.RandAugment(), _NORMALIZE)),
    )
