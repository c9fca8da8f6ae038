"""Draw shapes on a cluttered ground: outlines to be learned, and everything else is nuisance.

Place, scale, rotation, colours, the pattern of the fill, the light and the clutter are drawn anew
for every image. A model that sees few images learns these by heart instead of the outline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageChops, ImageDraw

from penstock.demo.sample_photo import Dice

Point = tuple[float, float]
Colour = tuple[int, int, int]

SIDE_PX = 144  # of every image
OVERSAMPLING = 2  # outlines are drawn so much larger, then reduced, which smooths them
LEAST_CONTRAST = 80  # levels of luma between a shape and its ground
SMALLEST = 0.6  # radius of a shape, as a share of the largest
SHADING = 0.3  # how far the ground's first colour turns into the second
DARKEST, LIGHTEST = 25, 230
PLACES_TRIED = 20


def _regular(corners: int, radius: float = 1.0, turn: float = 0.0) -> list[Point]:
    angles = [math.tau * corner / corners + turn for corner in range(corners)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _star(points: int, inner: float) -> list[Point]:
    pairs = zip(_regular(points), _regular(points, inner, math.pi / points), strict=True)
    return [point for pair in pairs for point in pair]


def _crescent(opening: float = 0.9, middle: float = 0.55) -> list[Point]:
    """A disk without a smaller one around (middle, 0), which meets it at the angle `opening`."""
    across, down = math.cos(opening) - middle, math.sin(opening)
    radius, first = math.hypot(across, down), math.atan2(down, across)
    outer = np.linspace(opening, math.tau - opening, 32).tolist()
    inner = np.linspace(math.tau - first, first, 32).tolist()
    return [(math.cos(angle), math.sin(angle)) for angle in outer] + [
        (middle + radius * math.cos(angle), radius * math.sin(angle)) for angle in inner
    ]


def _heart() -> list[Point]:
    def height(t: float) -> float:
        return 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)

    angles = [math.tau * step / 48 for step in range(48)]
    return [(math.sin(angle) ** 3, -height(angle) / 16) for angle in angles]


_ARM = 0.36
# Around the origin, within a distance of 1 or little more.
OUTLINES: dict[str, list[Point]] = {
    "arrow": [(1, 0), (0, 0.8), (0, 0.3), (-1, 0.3), (-1, -0.3), (0, -0.3), (0, -0.8)],
    "crescent": _crescent(),
    "cross": [
        *((_ARM, _ARM), (_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM)),
        *((-_ARM, -_ARM), (-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM)),
    ],
    "disk": _regular(48),
    "heart": _heart(),
    "pentagon": _regular(5),
    "ring": _regular(48),
    "square": _regular(4),
    "star": _star(5, 0.45),
    "triangle": _regular(3),
}
HOLES: dict[str, list[Point]] = {"ring": _regular(48, 0.55)}


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape in an image: its class, and its place, size in pixels and turn in radians."""

    name: str
    middle: Point
    radius: float
    turn: float

    def corners(self, outlines: dict[str, list[Point]] = OUTLINES) -> list[Point]:
        """Return the outline in the image."""
        (x, y), cos, sin = self.middle, math.cos(self.turn), math.sin(self.turn)
        return [
            (
                x + self.radius * (cos * across - sin * down),
                y + self.radius * (sin * across + cos * down),
            )
            for across, down in outlines[self.name]
        ]

    def box(self) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom, within the image."""
        across, down = zip(*self.corners(), strict=True)
        ends = (min(across), min(down), max(across), max(down))
        left, top, right, bottom = (min(max(end, 0.0), float(SIDE_PX)) for end in ends)
        return left, top, right, bottom


def place_shapes(dice: Dice, names: Sequence[str], largest: float) -> list[Shape]:
    """Find places for shapes that do not touch; one that finds no place is left out.

    `largest` is the largest radius, as a share of the image's side.
    """
    placed: list[Shape] = []
    for name in names:
        radius = dice.uniform(SMALLEST, 1) * largest * SIDE_PX
        turn = dice.uniform(0, math.tau)
        for _ in range(PLACES_TRIED):
            x, y = (dice.uniform(radius, SIDE_PX - radius) for _ in range(2))
            if all(math.dist((x, y), other.middle) > radius + other.radius for other in placed):
                placed.append(Shape(name, (x, y), radius, turn))
                break
    return placed


def draw_shapes(dice: Dice, shapes: Sequence[Shape]) -> Image.Image:
    """Return an image of these shapes; colours, patterns and clutter are drawn from `dice`."""
    image = _ground(dice)
    for shape in shapes:
        mask = _inside(shape.corners())
        if shape.name in HOLES:
            mask = ImageChops.subtract(mask, _inside(shape.corners(HOLES)))
        under = np.asarray(image)[int(shape.middle[1]), int(shape.middle[0])]
        image.paste(_fill(dice, _luma(under)), (0, 0), mask)
    return _with_noise(dice, image)


def _ground(dice: Dice) -> Image.Image:
    """Two colours that run into each other, with lines and spots on them."""
    first, second = np.array([_colour(dice), _colour(dice)], np.float32)
    across = np.linspace(0, 1, SIDE_PX, dtype=np.float32)
    turn = dice.uniform(0, math.tau)
    slope = across * np.float32(math.cos(turn)) + across[:, None] * np.float32(math.sin(turn))
    share = (slope - slope.min()) / np.float32(np.ptp(slope))
    pixels = first + share[..., None] * (second - first) * np.float32(SHADING)
    image = Image.fromarray(pixels.astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(2 + dice.below(4)):
        x, y = dice.uniform(0, SIDE_PX), dice.uniform(0, SIDE_PX)
        if dice.below(2):
            angle, length = dice.uniform(0, math.tau), dice.uniform(0.1, 0.6) * SIDE_PX
            end = (x + length * math.cos(angle), y + length * math.sin(angle))
            draw.line(((x, y), end), fill=_colour(dice), width=1 + dice.below(4))
        else:
            radius = dice.uniform(0.01, 0.06) * SIDE_PX
            box = (x - radius, y - radius, x + radius, y + dice.uniform(0.3, 1) * radius)
            draw.ellipse(box, fill=_colour(dice))
    return image


def _fill(dice: Dice, luma_under: float) -> Image.Image:
    """Plain, striped or spotted; both colours stand out from what is under the shape."""
    colours = [_colour(dice) for _ in range(2)]
    while min(abs(_luma(colour) - luma_under) for colour in colours) < LEAST_CONTRAST:
        colours = [_colour(dice) for _ in range(2)]
    image = Image.new("RGB", (SIDE_PX, SIDE_PX), colours[0])
    draw = ImageDraw.Draw(image)
    kind, step = dice.below(3), 6 + dice.below(8)
    if kind == 1:
        slant = dice.uniform(-1, 1) * SIDE_PX
        for start in range(-SIDE_PX, 2 * SIDE_PX, step):
            draw.line((start, 0, start + slant, SIDE_PX), fill=colours[1], width=step // 2)
    elif kind == 2:
        for x in range(0, SIDE_PX, step):
            for y in range(0, SIDE_PX, step):
                draw.ellipse((x, y, x + step // 2, y + step // 2), fill=colours[1])
    return image


def _with_noise(dice: Dice, image: Image.Image) -> Image.Image:
    noise = dice.white_noise(SIDE_PX)[..., None] * np.float32(dice.uniform(1, 8))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def _colour(dice: Dice) -> Colour:
    red, green, blue = (int(dice.uniform(DARKEST, LIGHTEST)) for _ in range(3))
    return red, green, blue


def _luma(colour: Iterable[int]) -> float:
    red, green, blue = colour
    return float(0.299 * red + 0.587 * green + 0.114 * blue)


def _inside(corners: Sequence[Point]) -> Image.Image:
    side = SIDE_PX * OVERSAMPLING
    mask = Image.new("L", (side, side))
    scaled = [(x * OVERSAMPLING, y * OVERSAMPLING) for x, y in corners]
    ImageDraw.Draw(mask).polygon(scaled, fill=255)
    return mask.resize((SIDE_PX, SIDE_PX), Image.Resampling.BOX)
