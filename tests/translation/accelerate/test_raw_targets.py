"""CocoDetection and VOCDetection as they are: transforms for images, annotations passed on."""

import pytest

from penstock.errors import TranslationError
from penstock.translation.transforms.lines import How
from tests.translation.accelerate.reading import accelerate, explain_translation


@pytest.fixture(params=["coco", "voc"])
def make(request):
    """A maker of DataLoaders over one of the two, without the wrapper."""
    of_dataset = request.getfixturevalue(request.param)

    def of(**options):
        names = {"transform", "target_transform"} & options.keys()
        given = {name: options.pop(name) for name in names}
        return of_dataset(wrapped=False, given=given, **options)

    return of


def count_objects(target):
    return len(target) if isinstance(target, list) else len(target["annotation"]["object"])


def assert_same(tv, ours, theirs):
    for batch, expected in zip(ours, theirs, strict=True):
        assert type(batch) is type(expected)
        assert all(map(tv.torch.equal, batch[0], expected[0]))
        assert batch[1] == expected[1]


def test_annotations_as_they_are(tv, make):
    """Images keep their different sizes; some have no annotations."""
    theirs = make(transform=tv.v1.ToTensor())
    assert_same(tv, accelerate(theirs), theirs)


def test_a_target_transform(tv, make):
    resize = tv.v1.Compose([tv.v1.Resize((12, 14)), tv.v1.ToTensor()])
    theirs = make(transform=resize, target_transform=count_objects)
    ours = accelerate(theirs)
    assert_same(tv, ours, theirs)
    (line,) = ours.translation.python_steps

    assert line.how == How.PYTHON
    assert "target_transform=count_objects" in line.theirs
    assert line.microseconds is not None


def test_a_target_transform_and_the_default_collate(tv, make):
    """Targets are batched by torch itself."""
    resize = tv.v1.Compose([tv.v1.Resize((12, 14)), tv.v1.ToTensor()])
    theirs = make(transform=resize, target_transform=count_objects, collate_fn=None, shuffle=False)
    for batch, expected in zip(accelerate(theirs), theirs, strict=True):
        assert type(batch) is type(expected)
        assert tv.torch.equal(batch[0], expected[0])
        assert tv.torch.equal(batch[1], expected[1])


def test_shuffled_subsets_keep_images_and_annotations_together(tv, make):
    resize = tv.v1.Compose([tv.v1.Resize((12, 14)), tv.v1.ToTensor()])
    theirs = make(transform=resize, only=[9, 3, 17, 5], shuffle=True)
    ((images, targets),) = accelerate(theirs)
    known = [theirs.dataset[place] for place in range(4)]
    for image, target in zip(images, targets, strict=True):
        (match,) = [other for pixels, other in known if tv.torch.equal(pixels, image)]
        assert target == match


def test_python_steps_on_images(tv, make):
    """Boxes do not follow here, so a function of the user's may run."""
    transform = tv.v1.Compose([lambda image: image.transpose(0), tv.v1.ToTensor()])
    theirs = make(transform=transform)
    assert_same(tv, accelerate(theirs), theirs)


@pytest.mark.parametrize("transform", [None, "Grayscale", "CenterCrop"])
def test_pillow_images(tv, make, transform):
    """Nobody made tensors of them."""
    steps = {"Grayscale": tv.v1.Grayscale(), "CenterCrop": tv.v1.CenterCrop(20)}
    theirs = make(transform=steps.get(transform))
    for batch, expected in zip(accelerate(theirs), theirs, strict=True):
        assert [image.mode for image in batch[0]] == [image.mode for image in expected[0]]
        assert [image.size for image in batch[0]] == [image.size for image in expected[0]]
        assert [image.tobytes() for image in batch[0]] == [image.tobytes() for image in expected[0]]
        assert batch[1] == expected[1]


def test_what_is_refused(tv, make):
    for loader, reason in (
        (make(transform=None, collate_fn=None), "images end as Pillow images"),
        (make(transforms=lambda image, target: (image, target)), "what transforms= makes of an"),
    ):
        with pytest.raises(TranslationError, match=reason):
            accelerate(loader)


def test_annotations_of_cells(tv, voc_folder, tmp_path):
    """Blood cells in VOC's form, whose classes torchvision's wrapper does not know."""
    from torchvision.datasets import VOCDetection, wrap_dataset_for_transforms_v2

    (tmp_path / "VOCdevkit").mkdir()
    (tmp_path / "VOCdevkit" / "VOC2012").symlink_to(voc_folder)
    dataset = VOCDetection(str(tmp_path), "2012", "val", transform=tv.v1.ToTensor())
    theirs = tv.data.DataLoader(dataset, 8, collate_fn=lambda b: tuple(zip(*b)))  # noqa: B905
    assert_same(tv, accelerate(theirs), theirs)
    wrapped = tv.data.DataLoader(
        wrap_dataset_for_transforms_v2(VOCDetection(str(tmp_path), "2012", "val"))
    )
    assert "wrapper stops at KeyError" in explain_translation(wrapped).reasons[0]
