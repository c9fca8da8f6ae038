"""Which two ops that follow each other may change places, what that changes, and why.

The rules mirror those of the planner (`planner/rules`), but for lists that torchvision runs. There,
an op is only ever moved as a whole, with its own arguments, and draws anew wherever it stands. So
"exact" means for a list: for each draw of the ops in the one order there is a draw in the other,
equally likely, that gives the same bytes. For most rules it is the very same draw; where it is
another one, as for a mirrored window, the rule says so.

Each rule is a function of a `Pair` that tells whether the two may change places, and whether there
is anything to gain; its docstring is the proof. Sizes are those that were met by images of the data
set: a crop or a resize comes earlier where it makes images smaller, and a resize that enlarges
comes later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from penstock.errors import PenstockError
from penstock.planner.access import Access
from penstock.planner.rules.rule import Bound, Fidelity
from penstock.reordering.pairs import Pair, pads_alike, resizes
from penstock.reordering.steps import CROPS, Role


@dataclass(frozen=True, slots=True)
class OrderRule:
    """A reason for which two ops may change places."""

    name: str
    fidelity: Fidelity
    applies: Callable[[Pair], bool]
    bound: Bound | None = None  # how far results of a fast rule are from what they were, on photos

    @property
    def summary(self) -> str:
        """The rule in one sentence."""
        return " ".join((self.applies.__doc__ or "").strip().partition("\n\n")[0].split())

    @property
    def why(self) -> str:
        """Why it holds, or what it changes: the second paragraph of the function's docstring."""
        return " ".join((self.applies.__doc__ or "").strip().split("\n\n")[1].split())


def crop_before_flip(pair: Pair) -> bool:
    """Crop before mirroring.

    Every place of the crop is equally likely, and so is the mirrored place: mirroring the crop
    there gives the same bytes as cropping the mirrored image.

    The border that the crop may add has to be the same on opposite sides.
    """
    if pair.first.role is not Role.FLIP or pair.second.role is not Role.CROP or pair.has_targets:
        return False
    return pair.second_shrinks and pads_alike(pair.second)


def crop_before_per_pixel(pair: Pair) -> bool:
    """Crop before ops that make each pixel from that pixel alone.

    Such an op asks neither where the pixel is nor what is around it, and its draw does not depend
    on the size.

    A border of one colour that the crop adds would keep its colour, so such a crop stays where it
    is. So does a crop of the middle that is larger than one of the images.
    """
    if not pair.first.looks_only_at(Access.TABLE, Access.PIXEL):
        return False
    return pair.second_crops and pair.adds_no_colour


def crop_before_conversion(pair: Pair) -> bool:
    """Crop before the image becomes a tensor, or floating-point numbers.

    A conversion treats every value alike, whatever its place, and a crop changes none.

    A border that the crop adds has to be black, which stays black.
    """
    if pair.first.role not in {Role.COPY, Role.TO_FLOAT}:
        return False
    return pair.second_crops and (pair.adds_no_colour or not pair.second.argument("fill"))


def flip_before_float(pair: Pair) -> bool:
    """Mirror bytes, not floating-point numbers, which take four times the memory.

    A conversion and a normalisation treat every value alike, whatever its place, and mirroring
    changes none.

    Pillow mirrors no faster than torch does, so its images may as well be converted first.
    """
    if pair.second.role is not Role.FLIP or not pair.between.is_of_floats:
        return False
    is_of_bytes = pair.first.role is Role.TO_FLOAT and "Pillow" not in pair.before.kinds
    return is_of_bytes or pair.first.is_a("Normalize")


def resize_before_flip(pair: Pair) -> bool:
    """Resize before mirroring.

    Resampling treats left and right alike, except for the rounding of its weights.

    For RandomResizedCrop, a window and the mirrored one are equally likely. Where it finds none
    that fits and takes the middle, an odd margin moves it by a pixel. Nearest neighbours are not
    picked alike from the left and from the right.
    """
    if pair.first.role is not Role.FLIP or pair.has_targets:
        return False
    return resizes(pair.second) and pair.second_shrinks


def resize_before_per_pixel(pair: Pair) -> bool:
    """Resize before ops on colour.

    What differs is rounding, and values along edges that are cut off at black or white.

    Resampling takes weighted means of pixels, and an op that is linear gives the same before and
    after that. A shift of hue is no straight line between opposite colours, which photos hardly
    have side by side. Solarize and posterize jump from level to level, so they stay before the
    resize.
    """
    if not (pair.first.is_smooth and resizes(pair.second) and pair.second_shrinks):
        return False
    # The mean of a whole photo hardly changes by a resize, but a window has a mean of its own.
    kinds = {Access.TABLE, Access.PIXEL}
    if pair.second.role is Role.RESIZE:
        kinds.add(Access.STATISTIC)
    return pair.first.looks_only_at(*kinds)


def per_pixel_before_enlarging(pair: Pair) -> bool:
    """Change colours and mirror before the image is enlarged.

    The same as resizing before them, seen from the other side: while there are fewer pixels.
    """
    first, second = pair.first, pair.second
    if first.role is not Role.RESIZE or not resizes(first) or not pair.first_enlarges:
        return False
    if second.role is Role.FLIP:
        return not pair.has_targets
    kinds = (Access.TABLE, Access.PIXEL, Access.STATISTIC)
    return second.is_smooth and second.looks_only_at(*kinds) and not pair.between.is_of_floats


def resize_before_float(pair: Pair) -> bool:
    """Resize bytes, not floating-point numbers.

    The same weights, but the result is rounded to whole levels, and bicubic values beyond black and
    white are cut off there.
    """
    if pair.first.role is not Role.TO_FLOAT or not pair.between.is_of_floats:
        return False
    # Without antialias, a tensor is resampled in another way than a Pillow image.
    is_alike = resizes(pair.second) and pair.second.argument("antialias") is not False
    return is_alike and pair.second_shrinks


def hue_before_tensor(pair: Pair) -> bool:
    """Shift the hue of a Pillow image, not of a tensor.

    Pillow rounds hue, saturation and the result of each step to whole levels.

    Brightness, contrast and saturation alone are as fast in torch, and uint8 tensors are converted
    there and back for each of them, so neither is moved.
    """
    if pair.first.role is not Role.TO_FLOAT or pair.before.kinds != {"Pillow"}:
        return False
    return pair.second.is_a("ColorJitter") and pair.second.argument("hue") is not None


def resize_before_warp(pair: Pair) -> bool:
    """Resize before turning and shearing.

    The rotation then interpolates between fewer pixels, so edges differ a little.

    A resize that keeps the shape of an image is a change of scale, and that and a linear map about
    the middle give the same in either order. What is drawn must not be in pixels.
    """
    return pair.warps_in_proportion and pair.first.argument("interpolation") == "bilinear"


def crop_before_neighbourhood(pair: Pair) -> bool:
    """Blur and sharpen only what the crop keeps.

    Pixels farther from the crop's edge than the filter looks are the same; nearer ones see a
    mirrored border where there was image before.
    """
    if not pair.first.looks_only_at(Access.NEIGHBOURHOOD):
        return False
    return pair.second_crops and pair.adds_no_colour


def crop_center_before_flip(pair: Pair) -> bool:
    """Crop the middle before mirroring.

    Where the margin is odd, the window of a mirrored image lies one pixel to the side of where it
    was.
    """
    if pair.first.role is not Role.FLIP or pair.second.role is not Role.CENTER_CROP:
        return False
    return pair.second_shrinks and not pair.has_targets


def contrast_on_crop(pair: Pair) -> bool:
    """Change contrast around the mean of the crop, not of the whole image.

    Results are darker or brighter by as much as the crop differs from its image, times a share that
    the factor says.
    """
    return _on_crop(pair, "contrast")


def autocontrast_on_crop(pair: Pair) -> bool:
    """Stretch levels between the extremes of the crop, not of the whole image.

    A crop without the darkest or brightest places of its image is stretched farther.
    """
    return _on_crop(pair, "autocontrast")


def equalize_on_crop(pair: Pair) -> bool:
    """Equalize the levels of the crop, not of the whole image.

    The counts of levels are the crop's own, so the same pixel gets another level.
    """
    return _on_crop(pair, "equalize")


def crop_before_warp(pair: Pair) -> bool:
    """Crop before turning, shearing and distorting.

    The image is then turned about the middle of the crop, and corners that this leaves empty are
    filled, where there was image before.
    """
    if Access.GATHER not in pair.first.access or pair.has_targets:
        return False
    return pair.second.role in {*CROPS, Role.RESIZED_CROP} and pair.second_shrinks


def resize_before_nearest_warp(pair: Pair) -> bool:
    """Resize before turning and shearing by nearest neighbours.

    Steps that nearest neighbours leave along edges are then no longer smoothed by the resize.
    """
    return pair.warps_in_proportion and pair.first.argument("interpolation") == "nearest"


def _on_crop(pair: Pair, statistic: str) -> bool:
    kinds = (Access.TABLE, Access.PIXEL, Access.STATISTIC)
    if pair.first.statistics != {statistic} or not pair.first.looks_only_at(*kinds):
        return False
    if pair.second.role is Role.RESIZED_CROP:
        return pair.first.is_smooth and resizes(pair.second) and pair.second_shrinks
    return pair.second_crops and pair.adds_no_colour


def is_comparable(rule: OrderRule, pair: Pair) -> bool:
    """Whether results differ by no more than the rule's bound if all ops draw the same.

    A window is drawn in pixels from the left, so it is mirrored if the image is.
    """
    mirrors = pair.first.role is Role.FLIP and pair.second.role is Role.RESIZED_CROP
    return rule.fidelity is Fidelity.FAST and not mirrors


RULES = (
    *(
        OrderRule(applies.__name__, Fidelity.EXACT, applies)
        for applies in (
            crop_before_flip,
            crop_before_per_pixel,
            crop_before_conversion,
            flip_before_float,
        )
    ),
    *(
        OrderRule(applies.__name__, Fidelity.FAST, applies, bound)
        for applies, bound in (
            (resize_before_flip, Bound(mean=0.1, most=1, psnr_db=55)),
            (resize_before_per_pixel, Bound(mean=3, most=100, psnr_db=32)),
            (per_pixel_before_enlarging, Bound(mean=3, most=100, psnr_db=32)),
            (resize_before_float, Bound(mean=0.5, most=48, psnr_db=45)),
            (hue_before_tensor, Bound(mean=4, most=32, psnr_db=32)),
            (resize_before_warp, Bound(mean=5, most=200, psnr_db=25)),
            (crop_before_neighbourhood, Bound(mean=2, most=200, psnr_db=30)),
        )
    ),
    *(
        OrderRule(applies.__name__, Fidelity.RELAXED, applies)
        for applies in (
            crop_center_before_flip,
            contrast_on_crop,
            autocontrast_on_crop,
            equalize_on_crop,
            crop_before_warp,
            resize_before_nearest_warp,
        )
    ),
)


def choose_rules(fidelity: str, allow: Collection[str] = ()) -> tuple[OrderRule, ...]:
    """Return the rules that a fidelity includes, and those that are allowed by name."""
    levels = {"exact": {Fidelity.EXACT}, "fast": {Fidelity.EXACT, Fidelity.FAST}}
    if fidelity not in levels:
        raise PenstockError(f"explain: fidelity must be 'exact' or 'fast', got {fidelity!r}.")
    unknown = sorted(set(allow) - {rule.name for rule in RULES})
    if unknown:
        known = ", ".join(rule.name for rule in RULES if rule.fidelity is not Fidelity.EXACT)
        raise PenstockError(
            f"explain: allow names {unknown[0]!r}, which is no rule. There are: {known}."
        )
    return tuple(rule for rule in RULES if rule.fidelity in levels[fidelity] or rule.name in allow)
