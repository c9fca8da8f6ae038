"""Which order is proposed for lists as people write them."""

import pytest
from PIL import Image

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")


def test_a_crop_comes_before_colours_and_flips(ops, new_order):
    written = [ops.RandomHorizontalFlip(), ops.ColorJitter(0.4, 0, 0.4), ops.RandomCrop(64)]
    order, rules = new_order(ops.Compose(written))

    assert order == ["RandomCrop", "RandomHorizontalFlip", "ColorJitter"]
    assert rules == {"crop_before_per_pixel", "crop_before_flip"}


def test_contrast_looks_at_the_whole_image(ops, new_order):
    """Its mean is that of all pixels: a crop comes first only where that is allowed."""
    written = ops.Compose([ops.ColorJitter(contrast=0.4), ops.RandomCrop(64)])

    assert new_order(written, "fast") == (["ColorJitter", "RandomCrop"], set())
    order, rules = new_order(written, allow=("contrast_on_crop",))
    assert order == ["RandomCrop", "ColorJitter"]
    assert rules == {"contrast_on_crop"}


@pytest.mark.parametrize(
    ("name", "rule"),
    [("RandomAutocontrast", "autocontrast_on_crop"), ("RandomEqualize", "equalize_on_crop")],
)
def test_statistics_are_those_of_the_whole_image(ops, new_order, name, rule):
    written = ops.Compose([getattr(ops, name)(), ops.CenterCrop(64), ops.Resize(32)])

    assert new_order(written, "fast")[0][0] == name
    assert new_order(written, "fast", (rule,))[0] == ["CenterCrop", name, "Resize"]


def test_a_resize_that_shrinks_comes_first_where_levels_may_differ(ops, new_order):
    written = ops.Compose(
        [ops.RandomHorizontalFlip(), ops.ColorJitter(0.4, 0.4, 0.4), ops.Resize(64)]
    )

    assert new_order(written)[1] == set()
    order, rules = new_order(written, "fast")
    assert order == ["Resize", "RandomHorizontalFlip", "ColorJitter"]
    assert rules == {"resize_before_per_pixel", "resize_before_flip"}


def test_a_resize_that_enlarges_stays_behind(ops, new_order):
    written = ops.Compose([ops.RandomHorizontalFlip(), ops.ColorJitter(0.4), ops.Resize(400)])

    assert new_order(written, "fast")[1] == set()


def test_colours_come_before_a_resize_that_enlarges(ops, new_order):
    written = ops.Compose([ops.Resize(400), ops.RandomHorizontalFlip(), ops.ColorJitter(0.4)])
    order, rules = new_order(written, "fast")

    assert order == ["RandomHorizontalFlip", "ColorJitter", "Resize"]
    assert rules == {"per_pixel_before_enlarging"}


def test_the_study_with_a_large_target(ops, new_order):
    """Flip, rotate, jitter, crop and resize, where the resize enlarges what the crop leaves."""
    written = [
        ops.RandomHorizontalFlip(),
        ops.RandomRotation(30),
        ops.ColorJitter(0.4, 0, 0.4),
        ops.RandomCrop(96),
        ops.Resize(400),
    ]
    everything = ("crop_before_warp", "resize_before_nearest_warp")
    order, _ = new_order(ops.Compose(written), "fast", everything)

    assert order == [
        "RandomCrop",
        "RandomHorizontalFlip",
        "RandomRotation",
        "ColorJitter",
        "Resize",
    ]


def test_the_study_with_a_small_target(ops, new_order):
    written = [
        ops.RandomHorizontalFlip(),
        ops.RandomRotation(30),
        ops.ColorJitter(0.4, 0, 0.4),
        ops.RandomCrop(128),
        ops.Resize(64),
    ]
    as_written = [type(op).__name__ for op in written]
    crop_first = ["RandomHorizontalFlip", "RandomRotation", "RandomCrop", "ColorJitter", "Resize"]
    everything = ("crop_before_warp", "resize_before_nearest_warp")

    assert new_order(ops.Compose(written))[0] == crop_first
    assert new_order(ops.Compose(written), "fast")[0] == [*crop_first[:3], "Resize", "ColorJitter"]
    order, _ = new_order(ops.Compose(written), "fast", everything)
    assert order == ["RandomCrop", "Resize", *as_written[:3]]


def test_the_usual_training_list_is_left_alone(ops, new_order):
    written = [
        ops.RandomResizedCrop(64),
        ops.RandomHorizontalFlip(),
        ops.ColorJitter(0.4, 0.4, 0.4, 0.1),
        ops.ToTensor(),
        ops.Normalize([0.5] * 3, [0.2] * 3),
    ]
    all_allowed = ("crop_before_warp", "contrast_on_crop", "resize_before_nearest_warp")

    assert new_order(ops.Compose(written), "fast", all_allowed)[1] == set()


def test_the_usual_evaluation_list_is_left_alone(ops, new_order):
    written = [
        ops.Resize(96),
        ops.CenterCrop(64),
        ops.ToTensor(),
        ops.Normalize([0.5] * 3, [0.2] * 3),
    ]

    assert new_order(ops.Compose(written), "fast")[1] == set()


def test_a_resize_and_a_crop_never_change_places(ops, new_order):
    for written in ([ops.Resize(96), ops.RandomCrop(64)], [ops.RandomCrop(96), ops.Resize(64)]):
        assert new_order(ops.Compose(written), "fast")[1] == set()


def test_conversions_come_late(ops, new_order):
    written = [
        ops.ToTensor(),
        ops.Normalize([0.5] * 3, [0.2] * 3),
        ops.CenterCrop(128),
        ops.Resize(64),
    ]

    exact, rules = new_order(ops.Compose(written))
    assert exact == ["CenterCrop", "ToTensor", "Normalize", "Resize"]
    assert rules == {"crop_before_per_pixel", "crop_before_conversion"}
    fast, _ = new_order(ops.Compose(written), "fast")
    assert fast == ["CenterCrop", "Resize", "ToTensor", "Normalize"]


def test_bytes_are_mirrored_and_resized_before_they_become_floats(torchvision, new_order):
    v2 = torchvision.transforms.v2
    written = [
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.RandomHorizontalFlip(),
        v2.RandomResizedCrop(64),
        v2.Normalize([0.5] * 3, [0.2] * 3),
    ]

    exact, rules = new_order(v2.Compose(written))
    assert exact == ["ToImage", "RandomHorizontalFlip", "ToDtype", "RandomResizedCrop", "Normalize"]
    assert rules == {"flip_before_float"}
    fast, _ = new_order(v2.Compose(written), "fast")
    assert fast == ["ToImage", "RandomResizedCrop", "RandomHorizontalFlip", "ToDtype", "Normalize"]


def test_an_unknown_op_is_a_barrier(ops, new_order):
    def mine(image):
        return image

    class Inherited(ops.ColorJitter):
        """May do anything."""

    for barrier in (mine, ops.Lambda(mine), Inherited(0.4), ops.Pad(2)):
        written = ops.Compose([ops.ColorJitter(0.4), barrier, ops.RandomCrop(64)])
        order, rules = new_order(written, "fast")

        assert rules == set()
        assert order[2] == "RandomCrop"


def test_between_barriers_ops_still_move(ops, new_order):
    def mine(image):
        return image

    written = ops.Compose([mine, ops.RandomInvert(), ops.RandomCrop(64), ops.RandomPosterize(3)])
    order, _ = new_order(written)

    assert order[1:] == ["RandomCrop", "RandomInvert", "RandomPosterize"]


def test_steps_between_levels_stay_before_a_resize(ops, new_order):
    for op in (ops.RandomPosterize(3), ops.RandomSolarize(100)):
        assert new_order(ops.Compose([op, ops.Resize(64)]), "fast")[1] == set()
        assert new_order(ops.Compose([op, ops.RandomCrop(64)]))[1] == {"crop_before_per_pixel"}


def test_a_border_of_one_colour_keeps_its_colour(ops, new_order):
    padded = ops.RandomCrop(96, padding=8)
    mirrored = ops.RandomCrop(96, padding=8, padding_mode="reflect")

    assert new_order(ops.Compose([ops.ColorJitter(0.4), padded]))[1] == set()
    assert new_order(ops.Compose([ops.ColorJitter(0.4), mirrored]))[1] == {"crop_before_per_pixel"}
    assert new_order(ops.Compose([ops.RandomHorizontalFlip(), padded]))[1] == {"crop_before_flip"}


def test_a_crop_of_the_middle_must_not_be_larger_than_an_image(ops, new_order, photos):
    written = ops.Compose([ops.RandomInvert(), ops.CenterCrop((64, 200))])

    assert new_order(written)[1] == set()  # one of the photos is 180 wide
    assert new_order(written, images=[photos[0]])[1] == {"crop_before_per_pixel"}


def test_a_lopsided_border_is_not_mirrored(ops, new_order):
    flip = ops.RandomHorizontalFlip()
    lopsided, even = (8, 0, 0, 8), (8, 4, 8, 4)

    assert not new_order(ops.Compose([flip, ops.RandomCrop(96, padding=lopsided)]))[1]
    assert new_order(ops.Compose([flip, ops.RandomCrop(96, padding=even)]))[1]


def test_nearest_neighbours_are_not_the_same_mirrored(ops, torchvision, new_order):
    nearest = torchvision.transforms.InterpolationMode.NEAREST
    written = ops.Compose([ops.RandomHorizontalFlip(), ops.Resize(64, interpolation=nearest)])

    assert new_order(written, "fast")[1] == set()


def test_a_choice_is_moved_if_all_of_it_can_be(ops, new_order):
    colours = ops.RandomApply([ops.ColorJitter(0.4), ops.RandomGrayscale()], p=0.8)
    mixed = ops.RandomApply([ops.ColorJitter(0.4), ops.GaussianBlur(3)], p=0.8)
    flips = ops.RandomApply([ops.RandomHorizontalFlip()], p=0.8)

    assert new_order(ops.Compose([colours, ops.RandomCrop(64)]))[1] == {"crop_before_per_pixel"}
    assert new_order(ops.Compose([mixed, ops.RandomCrop(64)]))[1] == set()
    assert new_order(ops.Compose([flips, ops.RandomCrop(64)]), "fast")[1] == set()


def test_a_list_inside_the_list_is_part_of_it(ops, new_order):
    written = ops.Compose(
        [ops.Compose([ops.RandomInvert(), ops.RandomPosterize(3)]), ops.RandomCrop(64)]
    )

    assert new_order(written)[0] == ["RandomCrop", "RandomInvert", "RandomPosterize"]


def test_turning_keeps_its_proportions_only_if_the_shape_stays(ops, torchvision, new_order):
    bilinear = torchvision.transforms.InterpolationMode.BILINEAR
    turn = ops.RandomRotation(30, interpolation=bilinear)

    assert new_order(ops.Compose([turn, ops.Resize(64)]), "fast")[1] == {"resize_before_warp"}
    assert new_order(ops.Compose([turn, ops.Resize((64, 64))]), "fast")[1] == set()
    expanding = ops.RandomRotation(30, interpolation=bilinear, expand=True)
    assert new_order(ops.Compose([expanding, ops.Resize(64)]), "fast")[1] == set()


def test_boxes_forbid_what_would_round_them_differently(torchvision, new_order):
    v2 = torchvision.transforms.v2
    from torchvision import tv_tensors

    boxes = tv_tensors.BoundingBoxes(
        torch.tensor([[3.5, 4, 30, 40]]), format="XYXY", canvas_size=(180, 240)
    )
    sample = {"image": Image.new("RGB", (240, 180)), "boxes": boxes}
    written = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomInvert(), v2.RandomCrop(64)])
    order, rules = new_order(written, images=[sample])

    assert order == ["RandomHorizontalFlip", "RandomCrop", "RandomInvert"]
    assert rules == {"crop_before_per_pixel"}
