"""The pass order is that of the installed Pillow, and a Pillow with another order is refused."""

from __future__ import annotations

import numpy as np
import PIL
import pytest
from PIL import Image

from penstock import pillow_order
from penstock.errors import LoaderError
from penstock.geometry import Ints

FILTERS = [
    Image.Resampling.BOX,
    Image.Resampling.BILINEAR,
    Image.Resampling.HAMMING,
    Image.Resampling.BICUBIC,
    Image.Resampling.LANCZOS,
]


def sizes_near_every_boundary(rng: np.random.Generator, count: int) -> Ints:
    """Rows of in_height, in_width, out_height, out_width."""
    wide = rng.integers(1, 120, (count, 4))
    tie = rng.integers(1, 60, (count, 4))
    tie[:, 0] = tie[:, 2] + 2 * (tie[:, 1] - tie[:, 3]) + rng.integers(-1, 2, count)
    tall = rng.integers(1, 40, (count, 4))
    tall[:, 1] = rng.integers(1, 5, count)
    tall[:, 0] = 100 * tall[:, 1] + rng.integers(-1, 2, count)
    tall[:, 2] = tall[:, 0] + rng.integers(-20, 20, count)
    return np.maximum(np.concatenate([wide, tie, tall]), 1).astype(np.int64)


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.name.lower())
def test_order_is_what_pillow_does(filter: Image.Resampling) -> None:
    """A resize equals its two passes done one by one in the order we name."""
    rng = np.random.default_rng(int(filter))
    sizes = sizes_near_every_boundary(rng, 120)
    answers = pillow_order.vertical_first(*sizes.T)

    for (height, width, out_height, out_width), vertical in zip(sizes, answers, strict=True):
        image = Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        between = (width, out_height) if vertical else (out_width, height)
        stepwise = image.resize(between, filter).resize((out_width, out_height), filter)
        direct = image.resize((out_width, out_height), filter)
        assert direct.tobytes() == stepwise.tobytes(), (height, width, out_height, out_width)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("10.4.0", [False, False, False, False]),
        ("12.1.1", [False, False, False, False]),
        ("12.2.0", [False, False, True, False]),
        ("12.3.0", [False, False, True, False]),
        ("13.0.0", [False, True, True, False]),
        ("13.1.0.dev0", [False, True, True, False]),
    ],
)
def test_each_version_has_its_rule(
    monkeypatch: pytest.MonkeyPatch, version: str, expected: list[bool]
) -> None:
    """The rules of versions other than the installed one stay as they were found."""
    monkeypatch.setattr(PIL, "__version__", version)
    in_height = np.array([40, 41, 501, 501])
    in_width = np.array([30, 30, 5, 5])
    out_height = np.array([20, 20, 480, 520])
    out_width = np.array([20, 20, 60, 3])

    answer = pillow_order.vertical_first(in_height, in_width, out_height, out_width)

    assert answer.dtype == np.bool_
    assert answer.tolist() == expected


def test_the_installed_pillow_is_known() -> None:
    """Fails on the day a Pillow with another rule is installed."""
    pillow_order.check_installed_pillow()


def test_another_rule_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pillow that claims a version whose rule it does not follow is refused by name."""
    claimed = "10.4.0" if int(PIL.__version__.split(".")[0]) >= 13 else "13.0.0"
    monkeypatch.setattr(PIL, "__version__", claimed)
    with pytest.raises(LoaderError, match=rf"Pillow {claimed} resizes .* Upgrade penstock"):
        pillow_order.check_installed_pillow()
