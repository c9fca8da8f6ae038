"""What has no equivalent is refused, with the reason, and all reasons at once."""

import re

import PIL.Image
import pytest

import penstock
from penstock.errors import TranslationError
from tests.translation.accelerate.reading import accelerate, explain_translation


class Rotate:
    """A transform of a user's own."""

    def __call__(self, image):
        return image.rotate(90)


def refused(loader, *reasons, **options):
    """The error, which must give these reasons and no others."""
    with pytest.raises(TranslationError) as raised:
        accelerate(loader, **options)
    assert len(raised.value.reasons) == len(reasons), raised.value
    for reason, got in zip(reasons, raised.value.reasons, strict=True):
        assert re.search(reason, got), got
        assert got in str(raised.value)
    assert explain_translation(loader, **options).reasons == raised.value.reasons


def first(batch):
    return batch[0]


def test_a_collate_function(make_loader):
    refused(make_loader(collate_fn=first), r"collate_fn=first: what it makes of the samples")


def test_samplers(make_loader, tv, folder):
    data = tv.data
    count = len(tv.ImageFolder(str(folder)))
    weighted = data.WeightedRandomSampler([1.0] * (count + 1), count)
    refused(make_loader(sampler=weighted), "it has 24 weights, but there are 23 samples")
    refused(make_loader(sampler=iter([2, 1])), "it has no length, so its epochs may have no end")
    for outside in ([3, -1], [count]):
        subset = data.SubsetRandomSampler(outside)
        refused(make_loader(sampler=subset), f"asks for sample {outside[-1]}; they count from 0")
    longer = data.SequentialSampler(range(count + 1))
    refused(make_loader(sampler=longer), "asks for sample 23; they count from 0 to 22")
    refused(make_loader(batch_size=None), "batch_size=None: samples come without batches")
    batches = tv.data.BatchSampler(range(4), 2, drop_last=False)
    loader = make_loader(batch_size=None, sampler=batches)
    refused(loader, "batch_size=None: samples come without batches")


def test_a_batch_sampler(make_loader, tv):
    class Buckets(tv.data.BatchSampler):
        pass

    batches = Buckets(tv.data.SequentialSampler(range(23)), 4, drop_last=False)
    refused(make_loader(batch_size=1, batch_sampler=batches), "batch_sampler=Buckets: how it makes")


def test_unknown_transforms_on_tensors(make_loader, tv):
    v1 = tv.v1
    steps = [v1.RandomCrop(32), v1.ToTensor(), Rotate(), v1.Normalize((0.5,), (0.5,))]
    refused(
        make_loader(transform=v1.Compose(steps)), "^Rotate: it is not known here, and meets a f"
    )


def test_computing_on_tensors_is_not_pillows(make_loader, tv):
    v2 = tv.v2
    ends = [v2.ToDtype(tv.torch.float32, scale=True)]
    transform = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(32), *ends])
    refused(
        make_loader(transform=transform),
        r"^RandomResizedCrop.*: it meets a tensor here.* Put ToImage\(\) .* after it, or pass",
    )
    loader = accelerate(make_loader(transform=transform), strict=False)
    assert "by a level at times" in str(loader.translation)


def test_resizing_numbers(make_loader, tv):
    transform = tv.v1.Compose([tv.v1.ToTensor(), tv.v1.Resize((32, 32))])
    reason = "Resize.*: it meets a floating-point tensor here"
    refused(make_loader(transform=transform), reason)
    refused(make_loader(transform=transform), reason, strict=False)


def test_images_that_stay_pillows(make_loader, tv):
    refused(make_loader(transform=tv.v1.Resize(3)), "the last step: images end as Pillow images")


class TwoViews:
    """As SimCLR's and MoCo's code has it."""

    def __init__(self, view):
        self.view = view

    def __call__(self, image):
        return [self.view(image), self.view(image)]


def test_a_function_that_makes_views(make_loader, tv):
    """Whoever writes it is told about MultiView, which the loader takes as the error says."""
    view = tv.v1.Compose([tv.v1.RandomResizedCrop(16), tv.v1.ToTensor()])
    loader = make_loader(transform=TwoViews(view))
    refused(loader, r"^TwoViews: it makes 2 images of one\. .*MultiView\(\[view\] \* 2\)")
    labelled = loader.dataset.samples
    files, labels = [path for path, _ in labelled], [label for _, label in labelled]
    instead = penstock.transforms.MultiView([view] * 2)
    views, _ = next(iter(penstock.Loader(files, labels=labels, transform=instead, batch_size=2)))
    assert [tuple(images.shape) for images in views] == [(2, 3, 16, 16)] * 2


def test_a_dataset_that_makes_views(tv, folder):
    class Views(tv.data.Dataset):
        def __init__(self, samples, view):
            self.samples, self.view = samples, view

        def __len__(self):
            return len(self.samples)

        def __getitem__(self, index):
            path, label = self.samples[index]
            image = PIL.Image.open(path).convert("RGB")
            return [self.view(image), self.view(image)], label

    samples = tv.ImageFolder(str(folder)).samples
    loader = tv.data.DataLoader(Views(samples, tv.v1.ToTensor()), batch_size=2)
    refused(loader, r"a sample has 2 images of one file\. .*MultiView\(\[view\] \* 2\)")


def test_orders_that_torchvision_would_refuse(make_loader, tv):
    v1 = tv.v1
    normalize = v1.Normalize((0.5,), (0.5,))
    transform = v1.Compose([v1.PILToTensor(), normalize])
    refused(make_loader(transform=transform), "Normalize.*: it needs a floating-point tensor and")
    transform = v1.Compose([v1.ToTensor(), v1.ToTensor()])
    refused(make_loader(transform=transform), "ToTensor.*: it needs a Pillow image and meets")
    transform = v1.Compose([v1.ToTensor(), normalize, normalize])
    refused(make_loader(transform=transform), "the pipeline: Normalize .* normalised already")


def test_gray_images(make_loader, tv):
    v1 = tv.v1
    ends = [v1.ToTensor(), v1.Normalize((0.1, 0.2, 0.3), (0.5, 0.5, 0.5))]
    transform = v1.Compose([v1.Grayscale(), v1.ColorJitter(0.4), Rotate(), *ends])
    refused(
        make_loader(transform=transform),
        "ColorJitter.*: it meets an image of one channel",
        "^Rotate: it is not known here, and meets an image of one channel",
        "Normalize.*: the image has one channel, mean 3 values",
    )


def test_all_reasons_are_given(make_loader, tv):
    sampler = tv.data.WeightedRandomSampler([1.0] * 24, 24)
    transform = tv.v1.Compose([tv.v1.ToTensor(), Rotate()])
    refused(
        make_loader(transform=transform, sampler=sampler, collate_fn=first),
        "collate_fn",
        "WeightedRandomSampler",
        "Rotate",
    )


def test_a_target_transform_that_cannot_be_followed(tv, folder):
    dataset = tv.ImageFolder(str(folder), tv.v1.ToTensor(), target_transform=tv.torch.tensor)
    accelerate(tv.data.DataLoader(dataset))
    dataset = tv.ImageFolder(str(folder), tv.v1.ToTensor(), target_transform=tv.torch.zeros)
    refused(
        tv.data.DataLoader(dataset),
        "ImageFolder: in __getitem__, `target = self.target_transform.*: what .* is not known",
    )


def test_something_else():
    with pytest.raises(TranslationError, match="a torch DataLoader is needed, got list"):
        accelerate([1, 2])


def test_a_data_loader_that_iterates_otherwise(tv, folder):
    class Endless(tv.data.DataLoader):
        def __iter__(self):
            while True:
                yield from super().__iter__()

    loader = Endless(tv.ImageFolder(str(folder), tv.v1.ToTensor()))
    refused(loader, "Endless: it has an __iter__ of its own")
