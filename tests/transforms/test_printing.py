import pickle

import pytest

from penstock import transforms as T


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (T.RandomHorizontalFlip(), "RandomHorizontalFlip()"),
        (T.RandomHorizontalFlip(0.2), "RandomHorizontalFlip(p=0.2)"),
        (T.RandomResizedCrop(224, (0.2, 1.0)), "RandomResizedCrop(size=224, scale=(0.2, 1.0))"),
        (
            T.Resize((4, 5), T.InterpolationMode.BICUBIC),
            "Resize(size=(4, 5), interpolation=InterpolationMode.BICUBIC)",
        ),
        (T.Pad((1, 2), padding_mode="edge"), "Pad(padding=(1, 2), padding_mode='edge')"),
        (T.ToDtype("float16", scale=True), "ToDtype(dtype='float16', scale=True)"),
    ],
)
def test_a_transform_prints_as_the_call_that_makes_it(transform, text):
    assert repr(transform) == text
    assert eval(f"T.{text}", {"T": T, "InterpolationMode": T.InterpolationMode}) == transform  # noqa: S307
    assert pickle.loads(pickle.dumps(transform)) == transform  # noqa: S301


def test_compose_prints_one_transform_a_line():
    inner = T.Compose([T.CenterCrop(2)])

    assert repr(T.Compose([T.Pad(1), inner])) == (
        "Compose([\n    Pad(padding=1),\n    Compose([\n        CenterCrop(size=2),\n    ]),\n])"
    )
