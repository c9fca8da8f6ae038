"""The picture of a batch: every image is on it, and no words run into anything."""

import numpy as np
import PIL.Image
import pytest

from past_batches import CROPS, ENDED, VIEWS, make
from penstock.drawing import GROUND
from penstock.errors import OutputError
from penstock.showing import captions
from penstock.showing.batch_sheet import draw_batch
from penstock.showing.captions import BRIGHT, Words, fit_end, wrap


def drawn(past, path, **options):
    draw_batch(past, path, **options)
    with PIL.Image.open(path) as sheet:
        return np.asarray(sheet).astype(int)


@pytest.mark.parametrize("count", [1, 5])
def test_every_image_is_on_it(folder, tmp_path, count):
    past = make(folder, transform=CROPS, batch_size=count).batch_at(0, 0)
    sheet = drawn(past, tmp_path / "a.png")
    for position in range(count):
        image = PIL.Image.fromarray(past.pixels(position)).resize((224, 224))
        wanted = np.asarray(image).astype(int)
        places = [
            (top, left)
            for top in range(sheet.shape[0] - 223)
            for left in range(0, sheet.shape[1] - 223, 230)
            if (sheet[top, left] == wanted[0, 0]).all()
        ]
        assert any(
            np.array_equal(sheet[top : top + 224, left : left + 224], wanted)
            for top, left in places
        )


def test_words_stay_in_their_cells(folder, tmp_path):
    past = make(folder, transform=ENDED, batch_size=6).batch_at(0, 0)
    sheet = drawn(past, tmp_path / "a.png")
    assert sheet.shape[1] == 3 * 230 - 6
    for left in (224, 454):
        assert (sheet[30:, left : left + 6] == GROUND).all()


def test_views_of_an_image_are_in_one_row(folder, tmp_path):
    past = make(folder, transform=VIEWS, batch_size=4).batch_at(0, 0)
    assert (drawn(past, tmp_path / "a.png").shape[1] + 6) / 230 % 3 == 0


def test_some_and_none(folder, tmp_path):
    past = make(folder, transform=CROPS, batch_size=6).batch_at(0, 0)
    assert draw_batch(past, tmp_path / "a.png", 2) == 2
    assert draw_batch(past, tmp_path / "b.png", 99) == 6
    (tmp_path / "x.jpg").write_bytes(b"")
    empty = make([tmp_path / "x.jpg"], transform=CROPS, on_error="skip").batch_at(0, 0)
    assert draw_batch(empty, tmp_path / "c.png") == 0


def test_sheets_have_an_end(folder, tmp_path):
    past = make(folder, transform=CROPS, batch_size=1001, samples_per_epoch=1001).batch_at(0, 0)
    with pytest.raises(OutputError, match=r"1,001 pictures, .* room for 1,000\. Show fewer"):
        draw_batch(past, tmp_path / "a.png")


@pytest.mark.parametrize("width", [40, 100, 300])
def test_lines_have_room(width):
    text = "A word; averyveryverylongwordthatfitsnowhereatall, and (some 0.1234) numbers"
    lines = wrap([Words("Name", BRIGHT), Words(text, BRIGHT)], width)
    for line in lines:
        place, word = line[-1]
        assert place + captions._FONT.getlength(word.text) <= width
    assert "".join(word.text for line in lines for _, word in line) == "Name" + text.replace(
        " ", ""
    )


def test_names_that_are_too_long_keep_their_end():
    assert fit_end("a/b.jpg", 100) == "a/b.jpg"
    short = fit_end("a/very/long/folder/with/much/in/it/b.jpg", 80)
    assert short.startswith("...")
    assert short.endswith("b.jpg")
