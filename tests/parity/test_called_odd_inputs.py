"""Called on whatever torchvision takes, ours gives the same from the same seed, to the bit.

Half precision and doubles, one channel and four, batches and empty ones, gaps in memory, gradients,
videos, boxes in all formats, tensors without memory: whatever torchvision refuses, ours refuses.
"""

import numpy as np
import pytest

from called_samples import assert_same, called, sample_with_targets, tensor_of
from penstock import TransformError
from penstock import transforms as T
from strategies import make_image

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
torchvision = pytest.importorskip("torchvision")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")

IMAGE = make_image((40, 52))
BYTES = tensor_of(IMAGE, torch.uint8)
FLOATS = tensor_of(IMAGE, torch.float32)
PAIR = torch.stack([BYTES, BYTES.flip(0)])


def turned_boxes(box_format):
    corners = torch.tensor([[5.0, 6, 20, 6, 20, 25, 5, 25], [10, 10, 30, 12, 28, 30, 8, 28]])
    boxes = tv_tensors.BoundingBoxes(corners, format="XYXYXYXY", canvas_size=(40, 52))
    return {
        "image": tv_tensors.Image(BYTES),
        "boxes": v2.functional.convert_bounding_box_format(boxes, new_format=box_format),
        "labels": torch.arange(2),
    }


INPUTS = {
    "pillow": IMAGE,
    "gray": IMAGE.convert("L"),
    "with alpha": IMAGE.convert("RGBA"),
    "bytes": BYTES,
    "Image": tv_tensors.Image(BYTES),
    "float32": FLOATS,
    "float64": FLOATS.double(),
    "float16": FLOATS.half(),
    "bfloat16": FLOATS.bfloat16(),
    "four channels": torch.cat([BYTES, BYTES[:1]]),
    "one channel": BYTES[:1],
    "no channels": BYTES[0],
    "batch": PAIR,
    "empty batch": PAIR[:0],
    "channels last": PAIR.contiguous(memory_format=torch.channels_last),
    "gaps": BYTES[:, ::2, 1:-1],
    "gradient": FLOATS.clone().requires_grad_(True),
    "meta": torch.empty(3, 40, 52, device="meta"),
    "Video": tv_tensors.Video(torch.stack([BYTES, BYTES.flip(1), BYTES.flip(2)])),
    "sample of a Pillow image": sample_with_targets(IMAGE),
    **{
        f"sample, {name}": sample_with_targets(tv_tensors.Image(BYTES), name)
        for name in ("XYXY", "XYWH", "CXCYWH")
    },
    **{f"sample, {name}": turned_boxes(name) for name in ("XYXYXYXY", "XYWHR", "CXCYWHR")},
}


def narrow(image):
    if isinstance(image, torch.Tensor):
        return image[..., ::2]
    return image.resize((max(1, image.width // 2), image.height))


PIPELINES = {
    "nested": lambda of: [
        of.RandomApply(
            [
                of.RandomChoice(
                    [
                        of.RandomOrder(
                            [of.RandomHorizontalFlip(), of.RandomApply([of.RandomRotation(20)])]
                        ),
                        of.Compose([of.RandomResizedCrop(24), of.RandomInvert()]),
                    ],
                    p=[0.3, 0.7],
                )
            ],
            p=0.8,
        ),
        of.RandomAffine(15, (0.1, 0.2), (0.8, 1.2), 5),
    ],
    "ten views": lambda of: [
        of.RandomRotation(10),
        of.TenCrop(24),
        lambda crops: [of.RandomHorizontalFlip()(c) for c in crops] if type(crops) is tuple else 0,
    ],
    "scale jitter": lambda of: [
        of.ScaleJitter((48, 60), (0.3, 1.8)),
        of.RandomCrop((30, 30), pad_if_needed=True, fill=9),
        of.RandomShortestSize([20, 33], 50),
    ],
    "boxes": lambda of: [
        of.RandomIoUCrop(min_scale=0.2),
        of.RandomZoomOut(fill={tv_tensors.Mask: 0, "others": 7}, p=0.9),
        of.ClampBoundingBoxes(),
        of.SanitizeBoundingBoxes(min_size=2),
    ],
    "zoomed out": lambda of: [
        of.RandomZoomOut(3, (1.0, 2.0), 0.9),
        of.RandomGrayscale(0.5),
        of.Pad((1, 2, 3, 4), padding_mode="reflect"),
    ],
    "bent": lambda of: [
        of.ElasticTransform(30.0, 3.0, fill=5),
        of.RandomPerspective(0.4, 0.9, fill=3),
    ],
    "noisy": lambda of: [
        of.ToImage(),
        of.ToDtype(torch.float32, scale=True),
        of.GaussianNoise(0.1, 0.2),
        of.GaussianBlur((3, 5), (0.2, 2.0)),
        of.Normalize([0.5] * 3, [0.2] * 3),
    ],
    "coloured": lambda of: [
        of.RandomOrder(
            [
                of.ColorJitter(0.4, 0.4, 0.4, 0.2),
                of.RandomPosterize(3),
                of.RandomEqualize(),
                of.RandomAutocontrast(),
                of.RandomAdjustSharpness(2),
            ]
        )
    ],
    "functions": lambda of: [
        of.Lambda(narrow),
        of.RandomHorizontalFlip(),
        of.ToImage(),
        of.ToDtype(torch.float64, scale=True),
    ],
    "there and back": lambda of: [
        of.ToImage(),
        of.RandomHorizontalFlip(),
        of.ToPILImage(),
        of.RandomRotation(30),
        of.PILToTensor(),
        of.ToDtype(torch.float16),
    ],
    "keypoints": lambda of: [
        of.RandomAffine(30, shear=10),
        of.RandomPerspective(0.3, 1.0),
        of.SetClampingMode("hard"),
        of.ClampKeyPoints(),
        of.SanitizeKeyPoints(),
    ],
    "types": lambda of: [
        of.ToDtype(
            {tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None},
            scale=True,
        ),
        of.ConvertBoundingBoxFormat("CXCYWH"),
        of.RandomResizedCrop((17, 19), antialias=False),
    ],
}


def attempt(transform, seed, given):
    try:
        return called(transform, seed, given), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_on_odd_inputs(name):
    ours, theirs = T.Compose(PIPELINES[name](T)), v2.Compose(PIPELINES[name](v2))
    for kind, given in INPUTS.items():
        for seed in range(2):
            expected, refused = attempt(theirs, seed, given)
            found, error = attempt(ours, seed, given)
            where = f"{kind}, seed {seed}: {error!r} / {refused!r}"
            assert (error is None) == (refused is None), where
            if refused is not None:
                assert isinstance(error, type(refused)), where
                continue
            (result, state), (wanted, wanted_state) = found, expected
            assert torch.equal(state, wanted_state), where
            if kind != "meta":
                assert_same(result, wanted)
                assert getattr(result, "requires_grad", 0) == getattr(wanted, "requires_grad", 0)
            elif isinstance(wanted, torch.Tensor):
                assert (result.shape, result.dtype, result.device) == (
                    wanted.shape,
                    wanted.dtype,
                    wanted.device,
                )


@pytest.mark.parametrize("name", ["CutMix", "MixUp"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_batches_of_all_precisions_are_mixed(name, dtype):
    batch = PAIR.repeat(2, 1, 1, 1).div(255).to(dtype)
    labels = torch.tensor([0, 2, 1, 3])
    ours, theirs = getattr(T, name)(num_classes=5), getattr(v2, name)(num_classes=5)
    nested = {"images": tv_tensors.Image(batch), "labels": labels, "name": "a batch"}
    for seed in range(3):
        torch.manual_seed(seed)
        expected = theirs(batch, labels), theirs(nested)
        torch.manual_seed(seed)
        assert_same((ours(batch, labels), ours(nested)), expected)


def test_gradients_are_torchvisions():
    for steps in (
        lambda of: [of.RandomAffine(30), of.ColorJitter(0.4, 0.4, 0.4)],
        lambda of: [of.RandomResizedCrop(20), of.GaussianBlur(3), of.RandomGrayscale(1.0)],
        lambda of: [of.Normalize([0.5] * 3, [0.2] * 3), of.Pad(3), of.RandomErasing(1.0)],
    ):
        gradients = []
        for library in (T, v2):
            image = FLOATS.clone().requires_grad_(True)
            torch.manual_seed(1)
            library.Compose(steps(library))(image).square().sum().backward()
            gradients.append(image.grad)
        assert torch.equal(*gradients)


def test_compiled_calls_are_torchvisions():
    """torch follows the calls: what it makes of ours is what it makes of torchvision's."""

    def steps(of):
        def run(image):
            image = of.resize(of.horizontal_flip(image), [20, 24])
            image = of.adjust_brightness(of.pad(image, [2, 3]), 1.3)
            return of.normalize(image, [0.5] * 3, [0.2] * 3)

        return run

    steps(T.functional)(FLOATS)  # the first call finds the kernels
    compiled = [
        torch.compile(steps(of), backend="eager", fullgraph=True)
        for of in (T.functional, v2.functional)
    ]
    assert torch.equal(*(run(FLOATS) for run in compiled))


@pytest.mark.parametrize("call", ["pad", "crop", "gaussian_blur", "permute_channels"])
def test_a_tensor_without_channels_is_refused_as_by_torchvision(call):
    arguments = {
        "pad": ([2],),
        "crop": (-3, 0, 9, 9),
        "gaussian_blur": ([3, 3],),
        "permute_channels": ([0, 1, 2],),
    }[call]
    for library in (T.functional, v2.functional):
        with pytest.raises((ValueError, IndexError)):
            getattr(library, call)(BYTES[0], *arguments)
    with pytest.raises(TransformError, match=r"image\[None\]"):
        getattr(T.functional, call)(BYTES[0], *arguments)
    wide = [60, 60]  # this one torchvision does
    ours, theirs = (of.center_crop(BYTES[0], wide) for of in (T.functional, v2.functional))
    assert torch.equal(ours, theirs)


def test_no_number_of_channels_or_layout_changes_a_sum():
    """torch adds up in an order that depends on the strides, also where sides of one have any."""
    rng = np.random.default_rng(0)
    whole = torch.from_numpy(rng.integers(0, 1 << 31, (17, 23, 1))).int()
    last = whole.movedim(-1, 0)[None]
    for image in (last, last[0], last.contiguous(), last.float() / (1 << 31)):
        for name, arguments in (("adjust_sharpness", (0.0,)), ("gaussian_blur", ([5, 3],))):
            ours, theirs = (
                getattr(of, name)(image, *arguments) for of in (T.functional, v2.functional)
            )
            assert torch.equal(ours, theirs), name


def test_true_and_false_are_stretched_as_by_torchvision():
    mask = BYTES[:1] > 127

    assert torch.equal(T.functional.autocontrast(mask), v2.functional.autocontrast(mask))
