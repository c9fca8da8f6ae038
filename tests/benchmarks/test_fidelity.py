import math

import numpy as np
import PIL.Image

from benchmarks.fidelity import compare, main


def test_differences_are_those_of_all_images_and_of_the_worst():
    exact = np.zeros((2, 3, 4, 4), dtype=np.uint8)
    fast = exact.copy()
    fast[1, 0, 0, 0] = 48

    error = compare(exact, fast)

    assert (error.mean, error.worst_mean, error.largest) == (0.5, 1.0, 48)
    assert math.isclose(error.psnr_db, 10 * math.log10(255**2 / 24))
    assert math.isclose(error.worst_psnr_db, 10 * math.log10(255**2 / 48))


def test_equal_images_have_no_noise():
    same = np.full((1, 3, 2, 2), 200, dtype=np.uint8)
    assert compare(same, same).psnr_db == math.inf


def test_the_table_has_a_row_for_each_pipeline_and_form(photo, tmp_path, capsys):
    PIL.Image.fromarray(photo).save(tmp_path / "photo.jpg")

    assert main(["--data", str(tmp_path), "--images", "2", "--rounds", "1"]) == 0

    assert capsys.readouterr().out.count("| RandomResizedCrop(224) |") == 2


def test_a_folder_without_photos_is_named(tmp_path, capsys):
    assert main(["--data", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
