"""Random Datasets as source code: statements as strangers write them, put together.

Each table holds statements that may stand for each other. `image` is a Pillow image and `path` its
file; SIDE stands for a number of pixels. Every program runs without errors, on files of any mode
and size, and draws from the generators of torch, random and NumPy only.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType

from hypothesis import strategies as st

IMPORTS = """\
import io
import os
import random

import numpy as np
import torch
import torchvision.transforms.functional as TF
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.datasets.folder import default_loader
from torchvision.transforms import v2
"""

# The image may have any mode after these.
PLAIN_OPENINGS = (
    "image = Image.open(path)",
    'image = Image.open(open(path, "rb"))',
    "image = Image.open(path)\nimage.load()",
    'image = Image.open(path)\nimage.draft("RGB", (SIDE, SIDE))',
    'with open(path, "rb") as file:\n    image = Image.open(io.BytesIO(file.read()))',
    "with Image.open(path) as file:\n    image = file.copy()",
)
# It is RGB or gray after these.
CONVERTED_OPENINGS = (
    'image = Image.open(path).convert("RGB")',
    'image = Image.open(path).convert("L")',
    'with open(path, "rb") as file:\n    image = Image.open(file).convert("RGB")',
    'with Image.open(path) as file:\n    image = ImageOps.exif_transpose(file).convert("RGB")',
    "image = default_loader(path)",
    'image = Image.fromarray(np.asarray(Image.open(path).convert("RGB")))',
    'image = Image.open(path)\nif image.mode != "RGB":\n    image = image.convert("RGB")',
    """\
if index not in self.cache:
    self.cache[index] = Image.open(path).convert("RGB")
image = self.cache[index].copy()""",
    """\
if index not in self.cache:
    with open(path, "rb") as file:
        self.cache[index] = file.read()
image = Image.open(io.BytesIO(self.cache[index])).convert("RGB")""",
)
# Some files are damaged where one of these opens them.
CAREFUL_OPENINGS = (
    """\
try:
    image = Image.open(path).convert("RGB")
except Exception:
    return self[(index + 1) % len(self)]""",
    """\
try:
    image = Image.open(path)
    image.load()
    image = image.convert("RGB")
except (OSError, SyntaxError):
    image = Image.new("RGB", (SIDE, SIDE), (random.randint(0, 255), 0, 0))""",
    """\
image = None
while image is None:
    try:
        image = default_loader(path)
    except OSError:
        path = random.choice(self.files)""",
)
# On an image of any mode.
GENERAL_STEPS = (
    "image = ImageOps.exif_transpose(image)",
    "image = image.resize((SIDE, SIDE + 3))",
    "image = image.resize((SIDE + 5, SIDE), Image.BICUBIC, box=(1, 1, image.width, image.height))",
    "image = image.crop((1, 2, max(2, image.width - 3), max(3, image.height - 1)))",
    "image = image.crop((-3, -2, image.width, image.height + 4))",
    "if random.random() < 0.5:\n    image = image.transpose(Image.FLIP_LEFT_RIGHT)",
    "image = image.transpose(random.choice([Image.ROTATE_90, Image.TRANSPOSE]))",
    "image = image.rotate(int(np.random.randint(-20, 20)))",
    "image = image.rotate(90, expand=True)",
    "image.thumbnail((SIDE + 9, SIDE + 9))",
    "image = TF.hflip(image)",
    "size = image.size",
    "box = image.getbbox()",
    "image = image.copy()",
)
# On an image that is RGB or gray.
STEPS = (
    'image = image.convert("L")',
    'image = image.convert("RGB")',
    "image = ImageOps.mirror(image) if torch.rand(1) < 0.5 else ImageOps.flip(image)",
    "image = ImageOps.autocontrast(image)",
    "image = ImageOps.fit(image, (SIDE, SIDE + 2), Image.LANCZOS)",
    "image = ImageOps.expand(image, border=2)",
    "image = ImageOps.pad(image, (SIDE + 4, SIDE))",
    "image = ImageEnhance.Brightness(image).enhance(random.uniform(0.5, 1.5))",
    "image = ImageEnhance.Contrast(image).enhance(1 + 0.2 * np.random.randn())",
    "image = image.filter(ImageFilter.GaussianBlur(radius=random.random() * 2))",
    "ImageDraw.Draw(image).rectangle((2, 2, SIDE // 2, SIDE // 2), fill=0)",
    "image = image.point(lambda level: 255 - level)",
    "image.paste(0, (0, 0, 2, 3))",
    """\
canvas = Image.new("RGB", (SIDE + 20, SIDE + 20), (114, 7, 250))
canvas.paste(image, ((canvas.width - image.width) // 2, random.randint(-5, 5)))
image = canvas""",
    """\
canvas = Image.new(image.mode, (SIDE, SIDE), 9)
canvas.paste(image.resize((SIDE - 2, SIDE - 3)), (1, 2))
image = canvas""",
    "image = image.crop(tuple(np.random.randint(-3, 4, 2)) + (image.width, image.height))",
    """\
left = random.randint(0, image.width // 2)
top = np.random.randint(0, image.height // 2 + 1)
image = image.crop((left, top, left + (image.width + 1) // 2, top + (image.height + 1) // 2))""",
    """\
i, j, h, w = transforms.RandomResizedCrop.get_params(image, (0.3, 1.0), (0.7, 1.4))
image = TF.resized_crop(image, i, j, h, w, [SIDE, SIDE + 1])""",
    "image = TF.adjust_saturation(image, 0.5 + float(torch.rand(())))",
    "image = TF.rotate(image, random.uniform(-30, 30), TF.InterpolationMode.BILINEAR)",
    "image = TF.center_crop(image, [SIDE, SIDE - 2])",
    "image = TF.pad(image, [1, 2, 3, 0], padding_mode='reflect')",
    "pixels = np.array(image)\nimage = Image.fromarray(pixels[::-1].copy())",
)
# Transforms of torchvision, on an image that is RGB or gray.
TRANSFORMS = (
    "transforms.RandomResizedCrop(SIDE)",
    "transforms.RandomResizedCrop((SIDE, SIDE + 2), antialias=True)",
    "transforms.Resize(SIDE)",
    "transforms.RandomHorizontalFlip()",
    "transforms.RandomVerticalFlip(0.3)",
    "transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)",
    "transforms.RandomGrayscale(0.5)",
    "transforms.RandomRotation(20)",
    "transforms.RandomAffine(10, translate=(0.1, 0.2), scale=(0.8, 1.1))",
    "transforms.RandomApply([transforms.GaussianBlur(3)], p=0.5)",
    "transforms.TrivialAugmentWide()",
    "transforms.Lambda(lambda image: ImageOps.invert(image))",
    "v2.RandomResizedCrop(SIDE)",
    "v2.RandomCrop(SIDE, pad_if_needed=True)",
    "v2.RandomHorizontalFlip(0.7)",
    "v2.ColorJitter(brightness=0.3)",
    "v2.RandomChoice([v2.RandomPosterize(3, p=1), v2.RandomAutocontrast(p=1)])",
    "v2.Resize((SIDE, SIDE + 1))",
    "v2.RandomCrop(SIDE, padding=2, padding_mode='edge', pad_if_needed=True)",
    "transforms.RandAugment()",
)
# The same size for all.
SIZES = (
    "image = image.resize((SIDE, SIDE))",
    "image = TF.resize(image, [SIDE, SIDE])",
    "image = transforms.RandomCrop(SIDE, pad_if_needed=True)(image)",
    "image = v2.CenterCrop(SIDE)(image)",
    "image = v2.RandomResizedCrop(SIDE)(image)",
)
ENDINGS = (
    "image = TF.to_tensor(image)",
    "image = TF.pil_to_tensor(image)",
    "image = TF.normalize(TF.to_tensor(image), [0.5], [0.25])",
    "image = v2.functional.to_image(image)",
    "image = torch.from_numpy(np.array(image)).float() / 255",
    "image = torch.as_tensor(np.asarray(image).astype(np.int16)).flip(0)",
    "image = np.array(image)",
    "image = np.asarray(image, dtype=np.float32) / 127.5 - 1",
    "image = (np.asarray(image) > 127).mean(axis=(0, 1), keepdims=True)",
    """\
image = v2.functional.to_image(image)
image = v2.RandomResizedCrop(SIDE)(v2.ColorJitter(0.4, 0.4, 0.4, 0.1)(image))
image = v2.RandomHorizontalFlip()(v2.ToDtype(torch.float32, scale=True)(image))""",
    """\
image = v2.RandomCrop(SIDE + 1, padding=3, fill=7, pad_if_needed=True)(TF.pil_to_tensor(image))
image = v2.RandomEqualize()(v2.RandomGrayscale(0.5)(v2.Resize(SIDE, antialias=False)(image)))""",
    """\
image = v2.RandAugment(3, 15)(v2.functional.to_image(image))
image = v2.GaussianBlur(3)(v2.CenterCrop(SIDE)(v2.RandomSolarize(99)(image)))""",
)
AFTERWARDS = (
    "image = image + 0",
    "image = image * float(torch.rand(()))",
    "image = image + np.random.normal()",
    "image = image[..., ::2]",
)
LABELS = (
    "label = index % 3",
    'label = os.path.basename(path).split(".")[0]',
    "label = torch.tensor([index, len(path) > 3], dtype=torch.float32)",
    "label = np.eye(4)[index % 4]",
    "label = random.random()",
    "label = {'index': index, 'coin': torch.rand(2)}",
    "label = (index, np.random.randint(9))",
)
FORMS = (
    "return {image}, label",
    "return {image}",
    "return [label, {image}]",
    "return {{'image': {image}, 'label': label, 'path': path}}",
    "return label, ({image}, index)",
)
TABLES = {
    "plain": PLAIN_OPENINGS,
    "converted": CONVERTED_OPENINGS,
    "careful": CAREFUL_OPENINGS,
    "general": GENERAL_STEPS,
    "step": STEPS,
    "transform": TRANSFORMS,
    "size": SIZES,
    "ending": ENDINGS,
    "afterwards": AFTERWARDS,
    "label": LABELS,
    "form": FORMS,
}


@dataclass(frozen=True)
class Program:
    """Statements by choice; `source` is the module with their Dataset."""

    opening: str = CONVERTED_OPENINGS[0]
    first: str = ""  # drawn before the file is even opened
    general: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    transforms: tuple[str, ...] = ()  # in a Compose, between opening and size
    size: str = SIZES[0]
    ending: str = ENDINGS[0]
    afterwards: tuple[str, ...] = ()
    label: str = LABELS[0]
    form: str = FORMS[0]
    views: int = 1
    listed: bool = False  # samples are kept in a list, and images are Pillow's, of any size
    side_px: int = 9

    @property
    def damaged(self) -> bool:
        """Whether it can do with files that are cut short."""
        return self.opening in CAREFUL_OPENINGS

    @property
    def source(self) -> str:
        """The text of the module."""
        steps = [*self.general]
        if self.opening in PLAIN_OPENINGS:
            steps.append('image = image.convert("RGB")')
        steps += self.steps
        if self.transforms:
            steps.append("image = self.transform(image)")
        if not self.listed:
            steps += [self.size, self.ending, *self.afterwards]
        before = ["path = self.files[index]", self.first, self.opening]
        if self.views == 1:
            body, image, method = [*before, *steps], "image", ""
        else:
            body = [*before, f"views = [self.augment(image.copy()) for _ in range({self.views})]"]
            image = "views"
            method = function_of("augment(self, image)", [*steps, "return image"])
        body += [self.label, self.form.format(image=image)]
        text = CLASS.format(
            imports=IMPORTS,
            transforms=", ".join(self.transforms),
            augment=method,
            getitem=function_of("__getitem__(self, index)", body),
            collate=", collate_fn=list" if self.listed else "",
        )
        return text.replace("SIDE", str(self.side_px))


CLASS = """\
{imports}

class Generated(Dataset):
    def __init__(self, files):
        self.files = files
        self.cache = {{}}
        self.transform = transforms.Compose([{transforms}])

    def __len__(self):
        return len(self.files)
{augment}{getitem}

def make_loader(files, workers):
    dataset = Generated(files)
    return DataLoader(dataset, batch_size=3, shuffle=True, num_workers=workers{collate})
"""


def function_of(head: str, lines: Sequence[str]) -> str:
    """Return a method of these statements."""
    body = "\n".join(dedent(line) for line in lines if line)
    return indent(f"\ndef {head}:\n{indent(body, '    ')}\n", "    ")


def some(table: Sequence[str], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    """Return up to `most` statements of a table."""
    return st.lists(st.sampled_from(table), max_size=most).map(tuple)


programs = st.builds(
    Program,
    opening=st.sampled_from(PLAIN_OPENINGS + CONVERTED_OPENINGS + CAREFUL_OPENINGS),
    first=st.sampled_from(("", "coin = random.random()", "noise = np.random.rand(3)")),
    general=some(GENERAL_STEPS, 3),
    steps=some(STEPS, 3),
    transforms=some(TRANSFORMS, 3),
    size=st.sampled_from(SIZES),
    ending=st.sampled_from(ENDINGS),
    afterwards=some(AFTERWARDS, 1),
    label=st.sampled_from(LABELS),
    form=st.sampled_from(FORMS),
    views=st.sampled_from((1, 1, 2, 3)),
    listed=st.sampled_from((False, False, False, True)),
    side_px=st.integers(6, 20),
)


@contextmanager
def imported(source: str, folder: Path) -> Iterator[ModuleType]:
    """Write a module, and import it as Python does; nothing of it stays."""
    name = f"generated_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]
        path.unlink()
