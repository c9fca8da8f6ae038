"""`penstock.explain`: what is looked at, measured and told."""

import json
import random

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock.errors import PenstockError
from penstock.reordering.explain import explain_inputs
from penstock.reordering.inputs import inputs_of_dataset
from penstock.reordering.rules import choose_rules
from penstock.reordering.trials import Times, Trials, is_worth_having
from penstock.results.records import Rate

torch = pytest.importorskip("torch")
BRIEF = {"samples": 3, "seconds": 0.2}


@pytest.fixture
def folder(tmp_path, photos):
    for number, one in enumerate(photos):
        (tmp_path / "a").mkdir(exist_ok=True)
        one.save(tmp_path / "a" / f"{number}.jpg")
    return tmp_path


@pytest.fixture
def explained(trials_of):
    """What is told where each op takes as long as it has pixels."""

    def explain(transform, fidelity="exact", allow=()):
        return explain_inputs(trials_of(transform), choose_rules(fidelity, allow), 1.0)

    return explain


def jitter_then_crop(v2):
    return v2.Compose([v2.ColorJitter(0.4), v2.RandomCrop(64), v2.ToImage()])


def test_a_data_loader_is_explained(torchvision, folder):
    v2 = torchvision.transforms.v2
    dataset = torchvision.datasets.ImageFolder(folder, jitter_then_crop(v2))
    ops = list(dataset.transform.transforms)
    loader = torch.utils.data.DataLoader(dataset, batch_size=2)
    found = penstock.explain(loader, **BRIEF)

    assert found.what == "ImageFolder"
    assert [step.name for step in found.reordered.steps] == ["RandomCrop", "ColorJitter", "ToImage"]
    assert found.sample_ms > 0
    assert dataset.transform.transforms == ops  # the user's own stays as it is


def test_a_data_set_or_a_list_with_images_will_do(torchvision, folder, photos):
    v2 = torchvision.transforms.v2
    transform = jitter_then_crop(v2)
    files = sorted((folder / "a").iterdir())
    subset = torch.utils.data.Subset(torchvision.datasets.ImageFolder(folder, transform), [0, 2])
    for given, images in (
        (subset, None),
        (transform, folder),
        (transform, files),
        (transform, photos),
    ):
        found = penstock.explain(given, images=images, **BRIEF)
        assert found.reordered is not None


def states():
    of_numpy = np.random.get_state()  # noqa: NPY002  the generator that users' ops draw from
    return random.getstate(), of_numpy[1].tolist(), torch.get_rng_state().tolist()


def test_generators_are_left_as_they_were(torchvision, folder, photos):
    v2 = torchvision.transforms.v2
    before = states()
    penstock.explain(jitter_then_crop(v2), images=photos, **BRIEF)
    assert states() == before
    penstock.explain(torchvision.datasets.ImageFolder(folder, jitter_then_crop(v2)), **BRIEF)
    assert states() == before


def test_the_table_has_sizes_and_times_of_both_orders(torchvision, explained):
    v2 = torchvision.transforms.v2
    told = str(explained(v2.Compose([v2.ColorJitter(0.4), v2.RandomCrop(100)]))).splitlines()

    rows = [line.split() for line in told]
    assert ["ColorJitter", "180x241", "100x100", "0.05", "0.01"] in rows
    assert ["RandomCrop", "180x241", "180x241", "0.05", "0.05"] in rows
    assert ["together", "0.10", "0.06"] in rows


def test_what_changes_is_told_with_the_list_to_paste(torchvision, explained):
    v2 = torchvision.transforms.v2
    found = explained(v2.Compose([v2.RandomInvert(0.3), v2.RandomCrop(100)]))
    told = str(found)

    assert "exact: RandomCrop before RandomInvert (crop_before_per_pixel)." in told
    assert "torch's one generator" in told
    assert told.endswith(found.code)
    assert found.code.splitlines()[2:] == [
        "v2.Compose([",
        "    v2.RandomCrop(100),",
        "    v2.RandomInvert(p=0.3),",
        "])",
    ]
    assert [type(op) for op in found.transforms] == [v2.RandomCrop, v2.RandomInvert]


def test_offers_name_the_argument_that_takes_them(torchvision, explained):
    v2 = torchvision.transforms.v2
    transform = v2.Compose(
        [v2.RandomRotation(9), v2.RandomInvert(), v2.RandomCrop(99), v2.Resize(32)]
    )
    found = explained(transform)
    arguments = [offer.argument for offer in found.offers]

    assert arguments == [
        'fidelity="fast"',
        'allow=("crop_before_warp",)',
        'fidelity="fast", allow=("crop_before_warp", "resize_before_nearest_warp")',
    ]
    taken = explained(transform, "fast", ("crop_before_warp", "resize_before_nearest_warp"))
    assert taken.offers == ()
    assert taken.reordered.times == found.offers[2].variant.times
    assert 'allow=("crop_before_warp",): ' in str(found)


def test_an_order_as_good_as_any_is_left_alone(torchvision, explained):
    v2 = torchvision.transforms.v2
    found = explained(v2.Compose([v2.RandomCrop(64), v2.RandomInvert()]))

    assert found.reordered is None
    assert not found.is_worth_having
    assert found.code == ""
    assert "There is nothing to move" in str(found)


def test_a_gain_within_the_noise_is_none(torchvision, photos, trials_of, monkeypatch):
    v2 = torchvision.transforms.v2
    trials = trials_of(v2.Compose([v2.RandomInvert(), v2.RandomCrop(100)]))
    noisy = [
        Times({0: 1.0, 1: 1.0}, (2.0, 2.2, 1.9), 3),
        Times({0: 0.9, 1: 1.0}, (1.9, 2.1, 2.0), 3),
    ]
    monkeypatch.setattr(trials, "race", lambda *_: noisy, raising=False)
    found = explain_inputs(trials, choose_rules("exact"), 1.0)

    assert not found.is_worth_having
    assert found.code == ""
    assert "No gain worth having from another order (1.05x (0.95 to 1.05) as fast)" in str(found)


def test_a_gain_must_be_more_than_the_spread():
    assert is_worth_having(Rate.of(1.2, 1.3, 1.25))
    assert not is_worth_having(Rate.of(0.99, 1.3, 1.25))
    assert not is_worth_having(Rate.of(1.01, 1.02, 1.02))


def test_opaque_ops_are_named_with_what_they_cost(torchvision, explained):
    v2 = torchvision.transforms.v2

    def sharpen_faces(image):
        return image

    told = str(explained(v2.Compose([v2.RandomInvert(), sharpen_faces, v2.RandomCrop(100)])))
    assert "nothing is moved past" in told
    assert "sharpen_faces (0.05 ms)" in told


def test_a_declared_function_may_be_passed(torchvision, explained):
    v2 = torchvision.transforms.v2

    @penstock.per_pixel
    def warmer(image):
        return image.point([min(255, level + level // 8) for level in range(256)] * 3)

    @penstock.per_pixel
    def not_really(image):
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)

    found = explained(v2.Compose([warmer, v2.RandomCrop(100)]))
    assert [step.name.rpartition(".")[2] for step in found.reordered.steps] == [
        "RandomCrop",
        "warmer",
    ]
    with pytest.raises(PenstockError, match="not_really is declared per_pixel"):
        explained(v2.Compose([not_really, v2.RandomCrop(100)]))


def test_a_loader_of_ours_explains_itself(folder, torchvision):
    loader = penstock.Loader(folder, batch_size=2, transform=penstock.transforms.CenterCrop(32))
    assert str(penstock.explain(loader)) == str(loader.explain())
    with pytest.raises(PenstockError, match="are for torchvision's"):
        penstock.explain(loader, fidelity="fast")

    v2 = torchvision.transforms.v2
    theirs = torchvision.datasets.ImageFolder(
        folder, v2.Compose([v2.CenterCrop(32), v2.PILToTensor()])
    )
    ours = penstock.accelerate(torch.utils.data.DataLoader(theirs, batch_size=2))
    assert "as written" in str(penstock.explain(ours))
    with pytest.raises(PenstockError, match="only predicted"):
        penstock.explain(ours, measure=True)


def test_it_is_told_in_json_too(torchvision, explained):
    v2 = torchvision.transforms.v2
    found = explained(v2.Compose([v2.RandomInvert(), v2.RandomCrop(100), v2.Resize(50)]), "fast")
    figures = json.loads(json.dumps(found.to_dict()))

    assert [op["name"] for op in figures["ops"]] == ["RandomInvert", "RandomCrop", "Resize"]
    assert [op["place_after"] for op in figures["ops"]] == [2, 0, 1]
    assert figures["speed_up"] > 1
    assert [change["fidelity"] for change in figures["changes"]] == ["exact", "fast"]


def test_all_orders_are_timed_in_turn(torchvision, photos, trials_of):
    """Each round has each order once, and none is always the first."""
    v2 = torchvision.transforms.v2
    turns = []

    class Watched(Trials):
        def _pass(self, order, number, images):
            turns.append((order, number))
            return super()._pass(order, number, images)

    inputs = trials_of(v2.Compose([v2.RandomInvert(), v2.RandomCrop(100)])).inputs
    explain_inputs(Watched(inputs), choose_rules("exact"), 0.01)

    rounds = turns[1:]  # the first one warms up
    assert [number for _, number in rounds[:6]] == [0, 0, 1, 1, 2, 2]
    assert rounds[0][0] == rounds[3][0]
    assert rounds[1][0] == rounds[2][0]


class Pairs(torch.utils.data.Dataset):
    """Two views of each image, by one list; another list is held but not called."""

    def __init__(self, images, transform, unused):
        self.images = images
        self.transform = transform
        self.for_evaluation = unused

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index]), self.transform(self.images[index])


def test_views_count_as_often_as_they_are_made(torchvision, photos):
    v2 = torchvision.transforms.v2
    unused = v2.Compose([v2.Resize(90), v2.CenterCrop(64), v2.RandomInvert(), v2.ToImage()])
    found = inputs_of_dataset(Pairs(photos, jitter_then_crop(v2), unused), 3, 1.0)

    assert len(found.arguments) == 3
    assert found.calls_per_sample == 2
    assert len(found.pipeline.transforms) == 3


def test_what_cannot_be_explained_says_why(torchvision, photos):
    v2 = torchvision.transforms.v2
    with pytest.raises(PenstockError, match="without images"):
        penstock.explain(jitter_then_crop(v2))
    with pytest.raises(PenstockError, match="got int"):
        penstock.explain(3)
    with pytest.raises(PenstockError, match="RandomCrop, op 2 of the list"):
        penstock.explain(v2.Compose([v2.RandomInvert(), v2.RandomCrop(999)]), images=photos)
    plain = torch.utils.data.TensorDataset(torch.zeros(4, 3, 8, 8))
    with pytest.raises(PenstockError, match="calls no Compose"):
        penstock.explain(torch.utils.data.DataLoader(plain))
    with pytest.raises(PenstockError, match="cannot be read"):
        penstock.explain(jitter_then_crop(v2), images=["no/such/file.jpg"])


def test_an_op_that_writes_into_its_input_harms_nothing(torchvision, photos):
    v2 = torchvision.transforms.v2
    black = [Image.new("RGB", (90, 80))]
    transform = v2.Compose(
        [
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.5], [0.1], inplace=True),
            v2.RandomCrop(64),
        ]
    )
    tensors = [v2.functional.to_image(black[0]).float()]
    penstock.explain(v2.Compose(transform.transforms[2:]), images=tensors, **BRIEF)

    assert not tensors[0].any()
