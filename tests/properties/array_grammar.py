"""Random Datasets that read arrays: OpenCV, NumPy and torch, as strangers put them together.

`image` is an array of bytes, three channels last, between opening and ending; SIDE stands for a
number of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.properties.strangers_grammar import CLASS, FORMS, IMPORTS, LABELS, function_of, some

OPENINGS = (
    "image = cv2.imread(path)",
    "image = cv2.imread(path, cv2.IMREAD_COLOR)\nassert image is not None, path",
    "image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)",
    "image = cv2.imread(path)[:, :, ::-1]",
    "image = cv2.imread(path, cv2.IMREAD_COLOR_RGB)",
    "image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)",
    """\
with open(path, "rb") as file:
    image = cv2.imdecode(np.frombuffer(file.read(), np.uint8), cv2.IMREAD_COLOR)""",
    'image = np.array(Image.open(path).convert("RGB"))',
    'image = np.asarray(Image.open(path).convert("RGB")).copy()',
    'image = np.asarray(Image.open(path).convert("RGB"))',
    """\
import imageio.v3 as iio

image = iio.imread(path)
image = np.stack([image] * 3, axis=-1) if image.ndim == 2 else image[..., :3]""",
    """\
import imageio.v2 as imageio

image = imageio.imread(path, pilmode="RGB")""",
    """\
gray = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2GRAY)
image = cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR)""",
    """\
if index not in self.cache:
    self.cache[index] = cv2.imread(path)
image = self.cache[index].copy()""",
    """\
if index not in self.cache:
    self.cache[index] = cv2.imread(path)
image = self.cache[index]""",
    "gray = cv2.imread(path, cv2.IMREAD_GRAYSCALE)\nimage = cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR)",
)
STEPS = (
    "image = image[1:, 2:]",
    "image = image[:-1, :-1]",
    """\
top, left = random.randint(0, image.shape[0] // 2), np.random.randint(0, image.shape[1] // 2 + 1)
image = image[top : top + (image.shape[0] + 1) // 2, left : left + (image.shape[1] + 1) // 2]""",
    "if random.random() < 0.5:\n    image = image[:, ::-1]",
    "if np.random.rand() < 0.5:\n    image = cv2.flip(image, 1)",
    "image = np.flipud(image)",
    "image = np.fliplr(image).copy()",
    "image = image[..., ::-1]",
    "image = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)",
    "image = np.ascontiguousarray(image)",
    "image = cv2.resize(image, (SIDE + 3, SIDE))",
    "image = cv2.resize(image, (SIDE, SIDE + 5), interpolation=cv2.INTER_LINEAR)",
    "image = cv2.resize(image, (SIDE, SIDE), interpolation=random.choice([0, 1, 2, 3]))",
    "image = cv2.resize(image, None, fx=0.7, fy=1.3)",
    "image = cv2.resize(image, None, fx=2, fy=2)",
    "image = cv2.resize(image, (SIDE, SIDE + 1), interpolation=cv2.INTER_AREA)",
    "image = cv2.resize(image, (SIDE + 40, SIDE), interpolation=cv2.INTER_AREA)",
    "image = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)",
    "image = cv2.transpose(image)",
    """\
gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
image = np.repeat(gray[..., None], 3, axis=2)""",
    "image = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2RGB)",
    "image = np.array(image)",
    "image = np.asarray(Image.fromarray(np.ascontiguousarray(image)).rotate(90, expand=True))",
    "image = image + np.uint8(random.randint(0, 9))",
    "image = (image.astype(np.int16) - 20).clip(0, 255).astype(np.uint8)",
    "image = image * 2 - 1",
    "image = cv2.copyMakeBorder(image, 1, 2, 0, 3, cv2.BORDER_CONSTANT, value=(114, 5, 6))",
    "image = cv2.copyMakeBorder(image, 2, 1, 1, 0, cv2.BORDER_REFLECT_101)",
    "image = cv2.rotate(image, random.choice([0, 1, 2]))",
    "image = np.rot90(image, random.randint(0, 3))",
    "image = cv2.GaussianBlur(image, (3, 3), 0)",
    "image = cv2.rectangle(np.ascontiguousarray(image), (1, 1), (4, 6), (9, 200, 30), -1)",
    "image = image.copy()\nimage[2:5, 1:4] = random.randint(0, 255)",
    """\
part = image[2:6]
image = np.ascontiguousarray(image)
image[0], image[1] = 7, part[0].max()""",
    "image = np.clip(image * random.uniform(0.5, 1.5), 0, 255).astype(np.uint8)",
    "image = 255 - image",
    "image = np.pad(image, ((1, 0), (2, 2), (0, 0)), mode='edge')",
    "image = np.array(Image.fromarray(np.ascontiguousarray(image)).resize((SIDE + 2, SIDE)))",
    "height, width, channels = image.shape",
    "level = image.mean()",
    "image = np.where(image > 200, 200, image).astype(np.uint8)",
    "image = image.transpose(1, 0, 2)",
)
SIZE = "image = cv2.resize(image, (SIDE, SIDE))"
MEAN = "np.array([0.485, 0.456, 0.406], dtype=np.float32)"
ENDINGS = (
    "image = image.copy()",
    "image = torch.from_numpy(image).permute(2, 0, 1).float() / 255",
    "image = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1)))",
    "image = torch.tensor(image).permute(2, 0, 1).div(255.0)",
    "image = torch.from_numpy(image.astype(np.float32) / 255.0).permute(2, 0, 1).contiguous()",
    f"image = (image.astype(np.float32) / 255 - {MEAN}) / 0.25",
    f"image = (image / 255.0 - {MEAN}).transpose(2, 0, 1)",
    "image = torch.from_numpy((image / 255.0 - [0.5, 0.4, 0.3]).transpose(2, 0, 1)).float()",
    "image = np.moveaxis(image, -1, 0).astype(np.float32)\nimage /= 127.5\nimage -= 1",
    """\
image = image.astype(np.float32)
seen = image[1:]
image *= 1 / 255
image = image + seen.mean()""",
    "image = TF.to_tensor(image)",
    "image = TF.normalize(TF.to_tensor(image), [0.5, 0.4, 0.3], [0.25] * 3)",
    "image = v2.functional.to_image(image)",
    "image = torch.from_numpy(image.transpose(2, 0, 1).copy()).half() / 255",
    "image = torch.from_numpy((image / 127.5 - 1).transpose(2, 0, 1))",
    "image = torch.tensor(image.copy()).permute(2, 0, 1).contiguous().unsqueeze(0).float()",
    "image = (image.astype(np.float32) / 255.0)[..., ::-1].transpose(2, 0, 1) * 2 - 1",
    "image = torch.tensor(image.copy()).permute(2, 0, 1).long() + 1",
    "image = image.astype(np.float16) / 255",
    """\
tensor = torch.tensor(image.copy()).permute(2, 0, 1)
image = torch.flip(tensor[:, 1:6, 2:], dims=[2]).float().sub(127.5).div(127.5)""",
    """\
mean, std = torch.tensor([0.5, 0.4, 0.3]).view(3, 1, 1), torch.tensor([0.2] * 3).view(3, 1, 1)
image = torch.tensor(image.copy()).permute(2, 0, 1).float().div_(255).sub_(mean).div_(std)""",
    "image = np.clip(image / 255.0, 0.1, 0.9).astype(np.float32)",
    "image = (cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) / 255.0)[None]",
    "image = v2.ToDtype(torch.float32, scale=True)(v2.functional.to_image(image))",
    "image = torch.from_numpy(image)\nimage[0] = 3",
    "image = {'whole': image, 'part': image[1:5, ::-1].copy(), 'view': image[2:]}",
    "image = torch.stack([TF.to_tensor(image), torch.from_numpy(image).permute(2, 0, 1) / 255])",
    """\
tensor = torch.from_numpy(image).float()
tensor.div_(255).sub_(torch.tensor([0.1, 0.2, 0.3]))
image = tensor * 2""",
)
TABLES = {"opening": OPENINGS, "steps": STEPS, "ending": ENDINGS}


@dataclass(frozen=True)
class ArrayProgram:
    """Statements by choice; `source` is the module with their Dataset."""

    opening: str = OPENINGS[0]
    steps: tuple[str, ...] = ()
    ending: str = ENDINGS[0]
    label: str = LABELS[0]
    form: str = FORMS[0]
    side_px: int = 9

    @property
    def source(self) -> str:
        """The text of the module."""
        lines = ["path = self.files[index]", self.opening, *self.steps, SIZE, self.ending]
        lines += [self.label, self.form.format(image="image")]
        text = CLASS.format(
            imports=f"import cv2\n{IMPORTS}",
            transforms="",
            augment="",
            getitem=function_of("__getitem__(self, index)", lines),
            collate="",
        )
        return text.replace("SIDE", str(self.side_px))


array_programs = st.builds(
    ArrayProgram,
    opening=st.sampled_from(OPENINGS),
    steps=some(STEPS, 4),
    ending=st.sampled_from(ENDINGS),
    label=st.sampled_from(LABELS),
    form=st.sampled_from(FORMS),
    side_px=st.integers(7, 20),
)
