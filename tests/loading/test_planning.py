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
    "bright": [
        T.RandomHorizontalFlip(),
        T.RandomRotation(30, interpolation="bilinear"),
        T.ColorJitter(0.4),
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
def packed(large_folder, tmp_path_factory):
    file = tmp_path_factory.mktemp("packed") / "folder.pen"
    pack(large_folder, file)
    return file


def loader_of(data, pipeline, **options):
    transform = T.Compose(list(pipeline))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Loader(data, transform=transform, batch_size=8, seed=5, output="numpy", **options)


def images(data, pipeline, **options):
    return all_of(loader_of(data, pipeline, **options))


def all_of(loader):
    return np.concatenate([batch for batch, _ in loader])


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("kind", ["folder", "packed"])
def test_an_exact_plan_changes_no_byte(kind, name, large_folder, packed):
    data = {"folder": large_folder, "packed": packed}[kind]
    planned = images(data, PIPELINES[name])
    np.testing.assert_array_equal(planned, images(data, PIPELINES[name], plan=False))
    np.testing.assert_array_equal(planned, images(data, PIPELINES[name], backend="pillow"))


@pytest.mark.parametrize("name", PIPELINES)
def test_a_fast_plan_is_near_and_the_same_from_file_and_record(name, large_folder, packed):
    allow = ("contrast_on_crop", "jitter_before_fill")
    exact = images(packed, PIPELINES[name]).astype(int)
    of_records = loader_of(packed, PIPELINES[name], fidelity="fast")
    fast = all_of(of_records)
    assert np.abs(fast.astype(int) - exact).mean() < 6
    relaxed = images(packed, PIPELINES[name], fidelity="fast", allow=allow)
    assert relaxed.shape == exact.shape
    # What pays for files may be other rules, by what decoding costs here; so the same are taken.
    of_files = loader_of(large_folder, PIPELINES[name], fidelity="fast", threads=3)
    again = of_files.replica(rules=of_records.choose_rules().rules)
    np.testing.assert_array_equal(fast, all_of(again))


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


def test_targets_do_not_follow_the_plan(large_folder):
    files = sorted(large_folder.rglob("*.jpg"))
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
    assert loader.explain().rules
    for planned, written, fast in zip(*both, strict=True):
        for key in written:
            np.testing.assert_array_equal(planned[key], written[key])
            np.testing.assert_array_equal(fast[key], written[key])


def test_explanations(large_folder):
    explained = Loader(large_folder, transform=T.Compose(PIPELINES["bright"])).explain()
    assert [what for what, *_ in explained.written_stages][:2] == ["mirror", "affine"]
    assert explained.samples == 23
    text = str(explained)
    assert "as written" in text
    assert "crop_before_per_pixel" in text
    assert explained.to_dict()["rules"][0]["fidelity"] == "exact"


def test_with_planning_off_an_explanation_says_what_it_would_bring(large_folder):
    transform = T.Compose(PIPELINES["bright"])
    planned = Loader(large_folder, transform=transform).explain()
    unplanned = Loader(large_folder, transform=transform, plan=False).explain()
    assert unplanned.rules == unplanned.offers == ()
    assert unplanned.planned_us == unplanned.written_us
    assert unplanned.if_planned == planned
    text = str(unplanned)
    assert "planning is off (plan=False)" in text
    assert "no rule applies" not in text
    for rule in planned.rules:
        assert rule.name in text
    assert unplanned.to_dict()["if_planned"]["rules"][0]["fidelity"] == "exact"


def test_effects_after_normalisation_are_planned_with(large_folder):
    """They come after all other work, and cost something."""
    ops = [T.CenterCrop(20), T.Normalize((0.5,) * 3, (0.2,) * 3)]
    plain = Loader(large_folder, transform=T.Compose(ops)).explain()
    erasing = T.RandomErasing(p=1.0, value="random")
    erased = Loader(large_folder, transform=T.Compose([*ops, erasing])).explain()
    assert erased.written_stages[-1] == ("erase", "RandomErasing", "20x20")
    assert erased.written_us > plain.written_us
    assert [line.what for line in erased.planned][-1] == "erase"
    twice = Loader(large_folder, transform=T.Compose([*ops, erasing, erasing])).explain()
    assert twice.written_stages[-2:] == (("erase", "RandomErasing", "20x20"),) * 2
    assert twice.written_us > erased.written_us


def test_equal_views_are_explained_together(large_folder):
    # Always applied: how many of a few images have it would differ from view to view.
    small = [T.RandomApply([T.ColorJitter(0.4, 0.4)], p=1.0), T.CenterCrop(16)]
    views = [T.Compose([T.CenterCrop(24)]), *(T.Compose(small) for _ in range(3))]
    explained = Loader(large_folder, transform=T.MultiView(views)).explain()
    ops = [(what, by) for what, by, _ in explained.written_stages]
    assert ops == [
        ("view 1: crop to 24x24", "CenterCrop"),
        ("views 2-4: 2 times brightness or contrast", "RandomApply(ColorJitter)"),
        ("views 2-4: crop to 16x16", "CenterCrop"),
    ]
    other_end = [T.Compose([*small, T.Normalize((0.5,) * 3, (std,) * 3)]) for std in (0.2, 0.3)]
    differ = Loader(large_folder, transform=T.MultiView(other_end)).explain()
    assert {what.partition(":")[0] for what, *_ in differ.written_stages} == {"view 1", "view 2"}
    alone = Loader(large_folder, transform=T.Compose(small)).explain()
    of_three = [line.microseconds for line in explained.written if "views 2-4" in line.what]
    assert sum(of_three) == pytest.approx(3 * alone.written_us, rel=0.05)


def test_what_cannot_be_meant_is_refused(large_folder):
    for options, message in (
        ({"plan": "yes"}, "plan must be True or False"),
        ({"allow": "contrast_on_crop"}, r"names in a tuple: allow=\('contrast_on_crop',\)"),
        ({"allow": 3}, "takes the names of rules"),
        ({"allow": ("magic",)}, "each of allow must be one of"),
        ({"allow": ("crop_before_flip",)}, "each of allow must be one of"),
        ({"allow": ("contrast_on_crop",), "plan": False}, "plan=False applies no rules"),
    ):
        with pytest.raises(LoaderError, match=message):
            Loader(large_folder, **options)
    with pytest.raises(LoaderError, match="only the native backend is planned"):
        Loader(large_folder, backend="pillow").explain()


def test_few_samples_are_drawn_often_enough(large_folder):
    """One file, but its jitter comes in either order, and the plan must know both."""
    file = min(large_folder.rglob("*.jpg"))
    transform = T.Compose([T.ColorJitter(0.4, 0.4), T.CenterCrop(20)])
    explained = Loader([file], labels=[0], transform=transform).explain()
    assert explained.samples == 1
    assert explained.written_stages[0][0] == "2 times brightness or contrast"


def test_rules_that_take_longer_than_they_save_are_left_out(large_folder, monkeypatch):
    monkeypatch.setattr("penstock.planner.search.rewriting_us", lambda rules, _: 1e4 * len(rules))
    explained = Loader(large_folder, transform=T.Compose(PIPELINES["bright"])).explain()
    assert explained.rules == ()
    assert explained.planned_us == explained.written_us


def test_an_explanation_says_that_masks_are_not_in_it(tmp_path):
    image, mask = tmp_path / "image.png", tmp_path / "mask.png"
    PIL.Image.new("RGB", (40, 30)).save(image)
    PIL.Image.new("L", (40, 30)).save(mask)
    transform = T.Resize((16, 16))
    with_masks = Loader([image], masks=[mask], transform=transform, output="numpy")
    without = Loader([image], transform=transform, output="numpy")

    assert any("masks follow" in note for note in with_masks.explain().notes)
    assert without.explain().notes == ()
