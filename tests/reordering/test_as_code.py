"""The list that is printed makes the same ops again."""

import pytest

from penstock.reordering.as_code import as_code, op_code
from penstock.reordering.steps import read_steps

torch = pytest.importorskip("torch")


def all_ops(ops, modes):
    return [
        *(ops.ColorJitter(0.4, 0.4, 0.4, 0.1), ops.ColorJitter(0.4, (0.2, 1.0)), ops.ColorJitter()),
        *(ops.Resize(256), ops.Resize((10, 20)), ops.Resize(256, modes.BICUBIC, max_size=400)),
        *(ops.RandomResizedCrop(224), ops.RandomResizedCrop((200, 100), scale=(0.2, 1.0))),
        *(ops.CenterCrop(224), ops.CenterCrop((224, 200)), ops.RandomCrop(32, padding=4)),
        ops.RandomCrop((32, 40), padding=(1, 2), pad_if_needed=True, padding_mode="reflect"),
        ops.RandomCrop(32, padding=(1, 2, 3, 4)),
        *(ops.RandomHorizontalFlip(), ops.RandomVerticalFlip(0.2)),
        *(ops.RandomRotation(30), ops.RandomRotation((10, 20), expand=True, fill=(1, 2, 3))),
        ops.RandomAffine(10, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5),
        *(ops.RandomPerspective(), ops.ElasticTransform(30.0)),
        *(ops.GaussianBlur(3), ops.GaussianBlur((3, 5), (0.5, 1.0))),
        *(ops.Grayscale(3), ops.RandomGrayscale(), ops.RandomInvert(0.3)),
        *(ops.RandomPosterize(4), ops.RandomSolarize(128, 0.3), ops.RandomAdjustSharpness(2)),
        *(ops.RandomAutocontrast(), ops.RandomEqualize(0.1)),
        *(ops.AutoAugment(ops.AutoAugmentPolicy.SVHN), ops.RandAugment(3, 7)),
        *(ops.TrivialAugmentWide(), ops.AugMix(severity=2)),
        *(ops.ToTensor(), ops.PILToTensor(), ops.ConvertImageDtype(torch.float16)),
        *(ops.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), ops.RandomErasing(0.1)),
        *(ops.RandomApply([ops.ColorJitter(0.1)], p=0.3), ops.Pad((1, 2, 3, 4))),
        *(ops.RandomChoice([ops.Grayscale(3), ops.RandomInvert()]), ops.RandomOrder([ops.Pad(2)])),
    ]


def made_by(code, names):
    return eval(code, dict(names))  # noqa: S307  the code that a user would paste


def kept(op):
    return type(op), repr(vars(op))


@pytest.mark.filterwarnings("ignore:The transform `ToTensor:UserWarning")
def test_each_op_is_made_again_by_its_code(ops, torchvision):
    names = {"torch": torch, "transforms": torchvision.transforms, "v2": torchvision.transforms.v2}
    for op in all_ops(ops, torchvision.transforms.InterpolationMode):
        code = op_code(op)
        assert code is not None, op
        assert kept(made_by(code, names)) == kept(op), code


def test_arguments_are_written_as_people_write_them(ops):
    short = ops.__name__.rpartition(".")[2]
    for op, code in [
        (
            ops.ColorJitter(0.4, 0.4, 0.2),
            "ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2)",
        ),
        (ops.RandomCrop(32, padding=4), "RandomCrop(32, padding=4)"),
        (ops.RandomRotation(30), "RandomRotation(30)"),
        (ops.Normalize([0.5], [0.2]), "Normalize(mean=[0.5], std=[0.2])"),
    ]:
        assert (
            op_code(op).replace("(0.5,)", "[0.5]").replace("(0.2,)", "[0.2]") == f"{short}.{code}"
        )


def test_what_is_not_torchvisions_own_is_the_users_object(torchvision):
    v2 = torchvision.transforms.v2

    def sharpen(image):
        return image

    transform = v2.Compose(
        [sharpen, v2.RandomInvert(), v2.Lambda(sharpen), v2.ToDtype({torch.Tensor: torch.float32})]
    )
    steps = read_steps(transform)
    code = as_code([steps[1], steps[0], steps[2], steps[3]], 2)
    made = made_by("\n".join(code.splitlines()[3:]), {"v2": v2, "your": list(transform.transforms)})

    assert made.transforms[1] is sharpen
    assert made.transforms[2:] == transform.transforms[2:]
    assert "# your object: " in code
    assert "sharpen" in code


def test_imports_are_those_that_the_list_needs(torchvision):
    transforms, v2 = torchvision.transforms, torchvision.transforms.v2
    code = as_code(
        read_steps([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), transforms.Resize(64)]), 2
    )

    assert code.splitlines() == [
        "import torch",
        "from torchvision import transforms",
        "from torchvision.transforms import v2",
        "",
        "v2.Compose([",
        "    v2.ToImage(),",
        "    v2.ToDtype(torch.float32, scale=True),",
        "    transforms.Resize(64),",
        "])",
    ]
