"""Loaders plan their work: what was drawn stays, exact plans change no byte."""

import warnings

import numpy as np
import PIL.Image
import pytest

from penstock import Loader, LoaderError, pack
from penstock import transforms as T
from target_samples import make_targets, sizes_of

PIPELINES = {
    "study": [
        T.RandomHorizontalFlip(),
        T.RandomRotation(30, interpolation="bilinear"),
        T.ColorJitter(0.4, 0.4),
        T.CenterCrop(30),
        T.Resize((16, 16)),
    ],
    "blurred": [T.GaussianBlur(5), T.RandomAdjustSharpness(2), T.RandomCrop(24), T.RandomInvert()],
    "policy": [T.RandAugment(3), T.Pad(3), T.RandomGrayscale(0.5), T.RandomCrop(28)],
    "bent": [
        T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10, fill=(9, 8, 7)),
        T.RandomEqualize(),
        T.RandomPerspective(0.4, 1.0),
        T.RandomAutocontrast(),
        T.RandomVerticalFlip(),
        T.CenterCrop(20),
    ],
}


@pytest.fixture(scope="module")
def packed(folder, tmp_path_factory):
    file = tmp_path_factory.mktemp("packed") / "folder.pen"
    pack(folder, file)
    return file


def images(data, pipeline, **options):
    transform = T.Compose(list(pipeline))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loader = Loader(data, transform=transform, batch_size=8, seed=5, output="numpy", **options)
    return np.concatenate([batch for batch, _ in loader])


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("kind", ["folder", "packed"])
def test_an_exact_plan_changes_no_byte(kind, name, folder, packed):
    data = {"folder": folder, "packed": packed}[kind]
    planned = images(data, PIPELINES[name])
    np.testing.assert_array_equal(planned, images(data, PIPELINES[name], plan=False))
    np.testing.assert_array_equal(planned, images(data, PIPELINES[name], backend="pillow"))


@pytest.mark.parametrize("name", PIPELINES)
def test_a_fast_plan_is_near_and_the_same_from_file_and_record(name, folder, packed):
    allow = ("contrast_on_crop", "jitter_before_fill")
    exact = images(packed, PIPELINES[name]).astype(int)
    fast = images(packed, PIPELINES[name], fidelity="fast").astype(int)
    assert np.abs(fast - exact).mean() < 6
    relaxed = images(packed, PIPELINES[name], fidelity="fast", allow=allow)
    assert relaxed.shape == exact.shape
    again = images(folder, PIPELINES[name], fidelity="fast", threads=3).astype(int)
    np.testing.assert_array_equal(fast, again)


def test_large_photos_are_planned_to_be_small(tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    photo = PIL.Image.fromarray(noise).resize((1600, 1200), PIL.Image.Resampling.BICUBIC)
    (tmp_path / "a").mkdir()
    for number in range(3):
        photo.rotate(number).save(tmp_path / "a" / f"{number}.jpg")
    pipeline = [
        T.RandomHorizontalFlip(),
        T.RandomRotation(30, interpolation="bilinear"),
        T.ColorJitter(0.4, 0.4),
        T.CenterCrop((600, 800)),
        T.Resize((100, 120)),
    ]
    explained = Loader(tmp_path, transform=T.Compose(pipeline), fidelity="fast").explain()
    used = {rule.name for rule in explained.rules}
    assert {"contrast_from_reduced", "window_of_warp", "resize_before_per_pixel"} <= used
    assert explained.planned_us < explained.written_us / 2

    exact, fast = (
        images(tmp_path, pipeline, fidelity=fidelity).astype(int) for fidelity in ("exact", "fast")
    )
    assert np.abs(exact - fast).mean() < 2


def test_targets_do_not_follow_the_plan(folder):
    files = sorted(folder.rglob("*.jpg"))
    sizes = sizes_of(*[PIL.Image.open(file).size[::-1] for file in files])
    targets = make_targets(sizes, outside=False)
    pipeline = T.Compose(
        [
            T.RandomPhotometricDistort(),
            T.RandomZoomOut(),
            T.RandomIoUCrop(),
            T.RandomHorizontalFlip(),
            T.SanitizeBoundingBoxes(min_size=1),
            T.Resize((40, 40)),
        ]
    )
    both = []
    for options in ({}, {"plan": False}, {"fidelity": "fast"}):
        loader = Loader(files, targets=targets, transform=pipeline, batch_size=8, **options)
        both.append([target for _, batch in loader for target in batch])
    assert any(rule.name == "merge_tables" for rule in loader.explain().rules)
    for planned, written, fast in zip(*both, strict=True):
        for key in written:
            np.testing.assert_array_equal(planned[key], written[key])
            np.testing.assert_array_equal(fast[key], written[key])


def test_explanations(folder):
    explained = Loader(folder, transform=T.Compose(PIPELINES["study"])).explain()
    assert [what for what, *_ in explained.written_stages][:2] == ["mirror", "affine"]
    assert explained.samples == 23
    text = str(explained)
    assert "as written" in text
    assert "crop_before_per_pixel" in text
    assert explained.to_dict()["rules"][0]["fidelity"] == "exact"
    unplanned = Loader(folder, transform=T.Compose(PIPELINES["study"]), plan=False).explain()
    assert unplanned.rules == ()
    assert "no rule applies" in str(unplanned)


def test_what_cannot_be_meant_is_refused(folder):
    for options, message in (
        ({"plan": "yes"}, "plan must be True or False"),
        ({"allow": "contrast_on_crop"}, r"names in a tuple: allow=\('contrast_on_crop',\)"),
        ({"allow": 3}, "takes the names of rules"),
        ({"allow": ("magic",)}, "each of allow must be one of"),
        ({"allow": ("crop_before_flip",)}, "each of allow must be one of"),
        ({"allow": ("contrast_on_crop",), "plan": False}, "plan=False applies no rules"),
    ):
        with pytest.raises(LoaderError, match=message):
            Loader(folder, **options)
    with pytest.raises(LoaderError, match="only the native backend is planned"):
        Loader(folder, backend="pillow").explain()


def test_few_samples_are_drawn_often_enough(folder):
    """One file, but its jitter comes in either order, and the plan must know both."""
    file = min(folder.rglob("*.jpg"))
    transform = T.Compose([T.ColorJitter(0.4, 0.4), T.CenterCrop(20)])
    explained = Loader([file], labels=[0], transform=transform).explain()
    assert explained.samples == 1
    kinds = [what for what, *_ in explained.written_stages[:2]]
    assert kinds == ["brightness or contrast"] * 2
