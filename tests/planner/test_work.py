from dataclasses import replace

import numpy as np
import pytest

from penstock._core import Effect, Element, PadMode, Route, StepColumn, Storage
from penstock.geometry import Sizes
from penstock.planner.amounts import Unit
from penstock.planner.decode_work import Sources
from penstock.planner.lower import lower
from penstock.planner.plan import as_written
from penstock.planner.prices import Prices
from penstock.planner.work import work_of
from penstock.transforms import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    AugMix,
    ColorJitter,
    Compose,
    Normalize,
    RandAugment,
    RandomResizedCrop,
    RandomRotation,
)
from penstock.transforms.effects import same_effect
from penstock.transforms.moves import CropMove, FlipMove, PadMove, ResizeMove
from penstock.transforms.values import FinalSpec

BILINEAR = 2
FLOATS = FinalSpec(Element.FLOAT32)
AFFINE = {"matrix": (0.9, 0.1, 0.0, -0.1, 0.9, 0.0), "fill": 0}


def column(*values):
    return np.array(values, dtype=np.int64)


def sizes_of(*sizes):
    return Sizes(*np.array(sizes, dtype=np.int64).T)


def crop(top, left, height, width):
    return CropMove(column(top), column(left), column(height), column(width))


def resize(height, width, number=BILINEAR):
    return ResizeMove(column(height), column(width), number)


def amounts_of(
    *moves, size=(128, 256), storage=Storage.RAW, final=None, layout="chw", dct_scale=1, **known
):
    """The amounts of one image, as a dictionary of what is not zero."""
    sizes = sizes_of(size)
    made = []
    for move in moves:
        made.append(move(sizes) if callable(move) else move)
        sizes = made[-1].out_sizes(sizes)
    steps = lower(made, sizes_of(size))
    steps.table[:, 0, StepColumn.DCT_SCALE] = dct_scale
    sources = replace(Sources.typical(sizes_of(size), storage), **known)
    found = work_of(steps, sources, final or FinalSpec(), layout).amounts[0]
    return {unit: found[unit] for unit in Unit if found[unit]}


def effect(kind, *, tables_wait=False, counts_early=False, **parameters):
    how = {"tables_wait": tables_wait, "counts_early": counts_early}
    return lambda sizes: replace(same_effect(kind, sizes, **parameters), **how)


def test_an_image_as_it_is_goes_through_the_final_pass_alone():
    found = amounts_of(final=FLOATS)

    assert found[Unit.RAW_PIXEL] == 128 * 256
    assert found[Unit.FLOAT32_VALUE] == 3 * 128 * 256
    assert found[Unit.STEP] == 1
    assert Unit.KEPT_VALUE not in found
    assert Unit.UINT8_VALUE not in found


def test_channels_last_are_interleaved():
    assert Unit.INTERLEAVED_VALUE not in amounts_of()
    assert amounts_of(layout="hwc")[Unit.INTERLEAVED_VALUE] == 3 * 128 * 256


def test_a_crop_reads_its_pixels_only():
    assert amounts_of(crop(10, 20, 30, 40))[Unit.RAW_PIXEL] == 30 * 40


def test_a_flip_mirrors_what_it_keeps():
    flip = FlipMove(np.array([True]), np.array([False]))
    assert amounts_of(crop(10, 20, 30, 40), flip)[Unit.MIRRORED_VALUE] == 3 * 30 * 40


def test_a_resize_counts_taps_of_both_passes():
    found = amounts_of(resize(64, 64))

    # Rows first: 128 rows of 64 results of 8 pixels each; then 64 x 64 results of 4 rows, which
    # begin at a multiple of four rows and so may be three more.
    assert found[Unit.ACROSS_VALUE] == 128 * 64 * 3
    assert found[Unit.ACROSS_TAP] == 128 * 64 * 3 * 8
    assert found[Unit.DOWN_VALUE] == 64 * 64 * 3
    assert found[Unit.DOWN_TAP] == 64 * 64 * 3 * (4 + 3)
    assert found[Unit.COEFFICIENT] == 64 * 4 + 64 * 8


def test_a_window_of_a_resize_needs_part_of_its_input():
    whole = amounts_of(resize(64, 128))
    part = amounts_of(resize(64, 128), crop(0, 0, 32, 64))

    assert part[Unit.DOWN_VALUE] == whole[Unit.DOWN_VALUE] / 4
    assert whole[Unit.RAW_PIXEL] / 4 < part[Unit.RAW_PIXEL] < whole[Unit.RAW_PIXEL] / 3


def test_nearest_has_no_coefficients():
    assert Unit.COEFFICIENT not in amounts_of(resize(64, 64, number=0))


def test_a_border_is_made_around_the_whole_image():
    four = [column(4)] * 4
    found = amounts_of(PadMove(*four, PadMode.REFLECT, (0, 0, 0)), crop(0, 0, 50, 50))

    assert found[Unit.RAW_PIXEL] == 128 * 256
    assert found[Unit.KEPT_VALUE] == 3 * 128 * 256
    assert found[Unit.PADDED_VALUE] == 3 * 50 * 50


def test_tiles_are_decoded_where_the_crop_touches_them():
    known = {"encoded_bytes": np.array([8_000.0]), "values_per_pixel": np.array([3.0])}
    found = amounts_of(crop(40, 70, 10, 20), storage=Storage.DCT, **known)

    assert found[Unit.TILE] == 1  # of 16: tiles have 32 rows of 64 pixels
    assert found[Unit.TILE_BYTE] == 500
    assert found[Unit.RECORD_BYTE] == 2_000  # rows of tiles are read as a whole
    assert found[Unit.TILE_BLOCK] == 2 * 4 * 3
    assert found[Unit.DECODED_PIXEL] == 10 * 20


def test_a_jpeg_is_scanned_down_to_the_last_row():
    known = {"encoded_bytes": np.array([8_000.0]), "values_per_pixel": np.array([3.0])}
    found = amounts_of(crop(24, 8, 7, 15), storage=Storage.JPEG, **known)

    assert found[Unit.JPEG_BYTE] == 8_000 * 32 / 128
    assert found[Unit.JPEG_SCANNED_BLOCK] == 3 * 32 * 256 / 64
    assert found[Unit.JPEG_BLOCK] < found[Unit.JPEG_SCANNED_BLOCK] / 4
    assert Unit.TILE not in found


@pytest.mark.parametrize(
    ("scale", "brightness", "colour"),
    [
        (1, Unit.TILE_BLOCK, Unit.TILE_BLOCK),
        (2, Unit.TILE_BLOCK_TO_4, Unit.TILE_BLOCK),
        (4, Unit.TILE_BLOCK_TO_2, Unit.TILE_BLOCK_TO_4),
        (8, Unit.TILE_BLOCK_TO_1, Unit.TILE_BLOCK_TO_2),
    ],
)
def test_blocks_are_transformed_to_the_scale(scale, brightness, colour):
    blocks = 128 * 256 / 64
    found = amounts_of(resize(8, 8), storage=Storage.DCT, dct_scale=scale)

    assert found[Unit.DECODED_PIXEL] == 128 * 256 / scale**2
    if scale == 1:
        assert found[brightness] == 1.5 * blocks
    else:
        assert (found[brightness], found[colour]) == (blocks, blocks / 2)


def test_libjpeg_decodes_the_whole_photo_at_full_size():
    known = {"routes": column(Route.LIBJPEG), "encoded_bytes": np.array([8_000.0])}
    found = amounts_of(resize(8, 8), storage=Storage.JPEG, dct_scale=8, **known)

    assert found[Unit.LIBJPEG_BYTE] == 8_000
    assert found[Unit.LIBJPEG_VALUE] == 1.5 * 128 * 256
    assert Unit.JPEG_BYTE not in found


def test_a_gray_photo_has_one_channel_until_the_end():
    found = amounts_of(
        resize(64, 64), storage=Storage.DCT, values_per_pixel=np.array([1.0]), final=FLOATS
    )

    assert found[Unit.DOWN_VALUE] == 64 * 64
    assert found[Unit.FLOAT32_VALUE] == 3 * 64 * 64
    assert Unit.DECODED_PIXEL not in found


def test_files_are_read_whole():
    found = amounts_of(crop(0, 0, 8, 8), storage=Storage.JPEG, are_files=True)

    assert found[Unit.FILE] == 1
    assert found[Unit.FILE_BYTE] == pytest.approx(0.3 * 128 * 256)
    assert Unit.RECORD not in found


def test_every_table_is_applied_unless_it_waits():
    brighter = effect(Effect.BRIGHTNESS, factor=1.2)
    later = effect(Effect.BRIGHTNESS, tables_wait=True, factor=1.2)
    blur = effect(Effect.SHARPNESS, factor=2.0)
    values = 3 * 128 * 256

    assert amounts_of(brighter, brighter)[Unit.TABLE_VALUE] == 2 * values
    assert amounts_of(later, brighter)[Unit.TABLE_VALUE] == values
    assert amounts_of(later, brighter)[Unit.TABLE] == 2
    assert amounts_of(later, blur, brighter)[Unit.TABLE_VALUE] == 2 * values
    assert amounts_of(later, resize(64, 64), brighter)[Unit.TABLE_VALUE] == values + 3 * 64 * 64


def test_tables_that_wait_for_the_final_pass_need_no_image_if_they_are_known_beforehand():
    later = effect(Effect.BRIGHTNESS, tables_wait=True, factor=1.2)
    equalize = effect(Effect.EQUALIZE)

    assert Unit.KEPT_VALUE not in amounts_of(later)
    assert Unit.KEPT_VALUE in amounts_of(later, equalize)
    assert Unit.KEPT_VALUE in amounts_of(effect(Effect.BRIGHTNESS, factor=1.2))


def test_tables_wait_through_warps_without_a_filter():
    later = effect(Effect.BRIGHTNESS, tables_wait=True, factor=1.2)
    warps = [
        effect(Effect.AFFINE, matrix=(0.9, 0.1, 0, 0.1, 0.9, 0), filter=number, fill=0)
        for number in (0, 2)
    ]
    values = 3 * 128 * 256

    assert amounts_of(later, warps[0], later)[Unit.TABLE_VALUE] == values
    assert amounts_of(later, warps[1], later)[Unit.TABLE_VALUE] == 2 * values


def test_a_mean_is_taken_through_what_waits_or_not_at_all():
    contrast = effect(Effect.CONTRAST, factor=1.2)
    later = effect(Effect.BRIGHTNESS, tables_wait=True, factor=1.2)
    known = effect(Effect.CONTRAST, factor=1.2, has_mean=1.0, mean=100.0)

    assert amounts_of(contrast)[Unit.MEAN_PIXEL] == 128 * 256
    assert amounts_of(later, contrast)[Unit.MAPPED_MEAN_PIXEL] == 128 * 256
    assert Unit.MEAN_PIXEL not in amounts_of(known)


def test_extremes_that_are_found_early_spare_a_pass_over_memory():
    late, early = (
        amounts_of(effect(Effect.AUTOCONTRAST, counts_early=early), size=(2000, 3000))
        for early in (False, True)
    )

    assert late[Unit.EXTREME_VALUE] == early[Unit.EXTREME_VALUE] == 3 * 2000 * 3000
    assert late[Unit.FAR_BYTE] - early[Unit.FAR_BYTE] == 3 * 2000 * 3000


def test_gray_images_have_a_third_of_the_values_afterwards():
    found = amounts_of(effect(Effect.GRAYSCALE), effect(Effect.SHARPNESS, factor=2.0))

    assert found[Unit.GRAY_PIXEL] == found[Unit.SHARPENED_VALUE] == 128 * 256


@pytest.mark.parametrize(("side", "unit"), [(3, Unit.BLUR_WEIGHT), (5, Unit.BLUR_TAP)])
def test_a_small_blur_is_done_at_once_and_a_large_one_in_two_passes(side, unit):
    kernel = {"kernel_width": side, "kernel_height": side, "sigma_across": 1, "sigma_down": 1}
    weights = 9 if side == 3 else 10

    assert amounts_of(effect(Effect.GAUSSIAN_BLUR, **kernel))[unit] == 3 * 128 * 256 * weights


@pytest.mark.parametrize(
    ("number", "unit"),
    [
        (0, Unit.AFFINE_NEAREST_PIXEL),
        (2, Unit.AFFINE_BILINEAR_PIXEL),
        (3, Unit.AFFINE_BICUBIC_PIXEL),
    ],
)
def test_a_warp_goes_over_its_source_and_its_result(number, unit):
    warp = effect(Effect.AFFINE, filter=number, **AFFINE)
    smaller = lambda sizes: replace(warp(sizes), height=column(20), width=column(30))  # noqa: E731
    found = amounts_of(smaller)

    assert found[Unit.BORDERED_PIXEL] == 128 * 256
    assert found[unit] == 20 * 30


def test_a_rounded_warp_has_a_price_of_its_own():
    found = amounts_of(effect(Effect.AFFINE, filter=2, rounded=1.0, **AFFINE))

    assert found[Unit.AFFINE_ROUNDED_PIXEL] == 128 * 256
    assert Unit.AFFINE_BILINEAR_PIXEL not in found


def test_moving_whole_rows_is_a_copy():
    shear = {"matrix": (1.0, 0.2, 0.0, 0.0, 1.0, 0.0), "fill": 0, "filter": 0}
    found = amounts_of(effect(Effect.AFFINE, **shear))

    assert found[Unit.SHIFTED_VALUE] == 3 * 128 * 256
    assert Unit.BORDERED_PIXEL not in found


@pytest.mark.parametrize(
    ("first", "kept"), [((), 0), ((effect(Effect.HUE, factor=0.1),), 3 * 128 * 256)]
)
def test_rows_that_move_first_need_no_image(first, kept):
    brighter = effect(Effect.BRIGHTNESS, factor=1.2, tables_wait=True)
    move = effect(Effect.AFFINE, matrix=(1, 0, 20, 0, 1, -28), fill=0, filter=2)
    found = amounts_of(*first, brighter, move)

    assert found.get(Unit.KEPT_VALUE, 0) == kept
    assert found[Unit.SHIFTED_VALUE] == 3 * 128 * 256


def test_rows_do_not_move_on_the_way_past_a_border():
    border = PadMove(*[column(2)] * 4, PadMode.CONSTANT, (0, 0, 0))
    move = effect(Effect.AFFINE, matrix=(1, 0, 20, 0, 1, -28), fill=0, filter=2)
    kept = amounts_of(border, move)[Unit.KEPT_VALUE]

    assert kept == amounts_of(border)[Unit.KEPT_VALUE] + 3 * 132 * 260


def test_rows_move_on_the_way_once():
    move = effect(Effect.AFFINE, matrix=(1, 0, 20, 0, 1, -28), fill=0, filter=2)
    assert amounts_of(move, move)[Unit.KEPT_VALUE] == 3 * 128 * 256


@pytest.mark.parametrize(
    ("matrix", "read"),
    [
        ((1, 0.2, 0, 0, 1, 0), 128 * 256),
        ((1, 0, 0, 0, 1, -28), 100 * 256),
        ((1, 0, 56, 0, 1, 28), 100 * 200),
    ],
)
def test_what_moves_out_of_sight_is_not_read(matrix, read):
    assert (
        amounts_of(effect(Effect.AFFINE, matrix=matrix, fill=0, filter=0))[Unit.RAW_PIXEL] == read
    )


def test_a_mix_adds_up_all_its_images():
    found = amounts_of(
        effect(Effect.MIX_BEGIN, weight=0.5),
        effect(Effect.SATURATION, factor=1.5),
        effect(Effect.MIX_ADD, weight=0.5),
        effect(Effect.MIX_END),
    )

    values = 3 * 128 * 256
    assert found[Unit.MIXED_VALUE] == 2 * values
    assert found[Unit.COPIED_VALUE] == values  # of what the mix remembers


def test_large_images_are_read_from_far():
    brighter = effect(Effect.BRIGHTNESS, factor=1.2)

    assert Unit.FAR_BYTE not in amounts_of(brighter)
    assert amounts_of(brighter, size=(1024, 1024))[Unit.FAR_BYTE] > 3 * 1024 * 1024


def batch_of(transform, sizes):
    plan = as_written(transform)
    every = np.arange(len(sizes), dtype=np.int64)
    steps = lower(plan.segments[-1].sample(0, 0, every, sizes), sizes)
    return steps, plan.final


PIPELINES = {
    "crop": [RandomResizedCrop(64), Normalize(IMAGENET_MEAN, IMAGENET_STD)],
    "policy": [RandomResizedCrop(64), RandAugment(), AugMix(), ColorJitter(0.4, 0.4, 0.4, 0.1)],
    "rotation": [RandomRotation(30)],
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("storage", list(Storage))
def test_a_batch_is_the_work_of_its_samples(name, storage):
    sizes = sizes_of((100, 80), (333, 500), (32, 32), (900, 1200))
    steps, final = batch_of(Compose(PIPELINES[name]), sizes)
    sources = Sources.typical(sizes, storage)

    together = work_of(steps, sources, final).amounts

    for row in range(len(sizes)):
        alone = work_of(steps.pick(column(row)), sources.at(column(row)), final).amounts
        np.testing.assert_array_equal(together[row], alone[0])
    assert (together >= 0).all()


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("storage", list(Storage))
def test_more_pixels_never_cost_less(name, storage):
    sides = column(*range(64, 1_600, 96))
    sizes = Sizes(sides, sides)
    plan = as_written(Compose(PIPELINES[name]))
    same_draws = np.zeros(len(sizes), dtype=np.int64)
    moves = plan.segments[-1].sample(0, 0, same_draws, sizes)
    work = work_of(lower(moves, sizes), Sources.typical(sizes, storage), plan.final)

    found = Prices.default().microseconds(work)

    assert (found > 0).all()
    assert (np.diff(found) > -0.03 * found[:-1]).all()  # a last quad of taps may be fuller or not


def test_pieces_of_work_have_names_and_sizes_and_add_up():
    sizes = sizes_of((300, 400), (200, 200))
    steps, final = batch_of(Compose(PIPELINES["crop"]), sizes)
    prices = Prices.default()
    work = work_of(steps, Sources.typical(sizes, Storage.DCT), final)

    names = [part.name for part in work.parts]
    assert {"draw", "read", "decode tiles", "resize bilinear", "write float32"} <= set(names)
    decode = next(part for part in work.parts if part.name == "decode tiles")
    assert [decode.sizes[row] for row in range(2)] == [sizes[0], sizes[1]]
    total = sum(prices.of_part(part).sum() for part in work.parts)
    assert total == pytest.approx(prices.microseconds(work).sum())
