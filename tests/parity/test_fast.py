"""fidelity="fast" stays within the bounds that docs/exactness.md states, and changes nothing else.

Differences come from frequencies that are left out, from filters that take coarser steps, and from
colours that are clipped after averaging instead of before. Small outputs make even small photos be
reduced; what is not reduced must be equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from benchmarks.fidelity import compare
from penstock import Loader, _core, pack
from penstock import transforms as T

SMOOTH_FILTERS = ("bilinear", "bicubic", "lanczos", "hamming")


@dataclass(frozen=True)
class Bounds:
    """Levels (of 0 to 255) and decibels."""

    mean: float  # over all reduced images
    psnr_db: float
    worst_mean: float  # of any one image
    worst_psnr_db: float
    largest: int  # of any one sample


PHOTOS = Bounds(mean=0.5, psnr_db=48, worst_mean=2, worst_psnr_db=40, largest=32)
# Each channel is noise of its own: more colour, in finer detail, than photos have.
NOISE = Bounds(mean=1, psnr_db=43, worst_mean=3, worst_psnr_db=36, largest=32)


def load(files: list[Path] | Path, transform, fidelity: str, epochs: int, **options) -> np.ndarray:
    loader = Loader(
        files,
        batch_size=64,
        transform=transform,
        seed=3,
        output="numpy",
        fidelity=fidelity,
        targets="none",
        **options,
    )
    return np.concatenate([images.copy() for _ in range(epochs) for images in loader])


def check(
    files: list[Path] | Path, transform, bounds: Bounds, least_reduced: float, epochs: int = 1
) -> None:
    """Compare fast with exact, for the images that differ at all."""
    exact = load(files, transform, "exact", epochs)
    fast = load(files, transform, "fast", epochs)
    reduced = (exact != fast).any(axis=(1, 2, 3))
    assert reduced.mean() >= least_reduced
    error = compare(exact[reduced], fast[reduced])
    assert error.mean <= bounds.mean
    assert error.psnr_db >= bounds.psnr_db
    assert error.worst_mean <= bounds.worst_mean
    assert error.worst_psnr_db >= bounds.worst_psnr_db
    assert error.largest <= bounds.largest


@pytest.fixture(scope="module")
def generated(photo, tmp_path_factory) -> list[Path]:
    """The generated photo in every usual sampling, fine and coarse, and in gray."""
    folder = tmp_path_factory.mktemp("generated")
    image = PIL.Image.fromarray(photo)
    files = []
    for subsampling in (0, 1, 2):
        for quality in (75, 95):
            path = folder / f"{subsampling}_{quality}.jpg"
            image.save(path, quality=quality, subsampling=subsampling)
            files.append(path)
    image.convert("L").save(folder / "gray.jpg", quality=90)
    return [*files, folder / "gray.jpg"]


@pytest.mark.parametrize("filter", SMOOTH_FILTERS)
@pytest.mark.parametrize("side", [16, 64])
def test_generated(generated, isa, filter, side) -> None:
    """Random boxes of a difficult picture."""
    transform = T.RandomResizedCrop(side, interpolation=filter)
    check(generated, transform, NOISE, least_reduced=0.2, epochs=5)


def check_at_224(files: list[Path] | Path, filter: str, least: tuple[float, float]) -> None:
    """Training and evaluation; `least` are the shares that must be reduced."""
    crop = T.RandomResizedCrop(224, interpolation=filter)
    check(files, crop, PHOTOS, least_reduced=least[0], epochs=2)
    resize = T.Compose([T.Resize(256, interpolation=filter), T.CenterCrop(224)])
    check(files, resize, PHOTOS, least_reduced=least[1])


@pytest.mark.parametrize("filter", SMOOTH_FILTERS)
def test_large(large, filter) -> None:
    """What large photos are for."""
    check_at_224(large, filter, (0.4, 0.6))


@pytest.mark.parametrize("filter", SMOOTH_FILTERS)
def test_large_packed(large, tmp_path, filter) -> None:
    """Packed, progressive photos are reduced as well."""
    packed = tmp_path / "large.pen"
    pack(large, packed, progress=False)
    check_at_224(packed, filter, (0.6, 0.9))


@pytest.mark.parametrize("filter", SMOOTH_FILTERS)
def test_in1k(in1k, isa, filter) -> None:
    """Many different photos, made small."""
    check(in1k, T.RandomResizedCrop(32, interpolation=filter), PHOTOS, least_reduced=0.8)


def test_every_instruction_set_gives_the_same_bytes(generated, isa) -> None:
    """As at full size."""
    transform = T.RandomResizedCrop(24)
    result = load(generated, transform, "fast", 3)
    _core.force_isa("scalar")
    np.testing.assert_array_equal(result, load(generated, transform, "fast", 3))


@pytest.mark.parametrize(
    "transform",
    [
        T.RandomResizedCrop(150),
        T.RandomResizedCrop(16, interpolation="box"),
        T.RandomResizedCrop(16, interpolation="nearest"),
        T.Compose([T.Pad(3), T.Resize((16, 16))]),
        T.CenterCrop(16),
    ],
    ids=["large", "box", "nearest", "padded", "crop"],
)
def test_what_is_not_reduced_is_exact(generated, transform) -> None:
    """No resize that leaves room, no difference."""
    exact, fast = (load(generated, transform, name, 2) for name in ("exact", "fast"))
    np.testing.assert_array_equal(fast, exact)


def test_what_we_do_not_decode_ourselves_is_exact(photo, tmp_path) -> None:
    """Progressive files, and files whose entropy data our decoder does not vouch for."""
    from tests.kernels import kernels

    height, width = photo.shape[:2]
    image = PIL.Image.fromarray(photo)
    image.save(tmp_path / "progressive.jpg", progressive=True)
    image.save(tmp_path / "irregular.jpg")
    whole = (tmp_path / "irregular.jpg").read_bytes()
    middle, no_codes = len(whole) // 2, b"\xfe" * 64
    damaged = whole[:middle] + no_codes + whole[middle + len(no_codes) :]
    assert kernels.decode_region(damaged, "baseline", 0, 0, height, width)[0] == "irregular"
    (tmp_path / "irregular.jpg").write_bytes(damaged)

    files = sorted(tmp_path.glob("*.jpg"))
    exact, fast = (load(files, T.Resize((16, 16)), name, 1) for name in ("exact", "fast"))
    np.testing.assert_array_equal(fast, exact)
