"""Of a packed photo that is warped, only the tiles that the warp looks at are decoded.

A file is decoded as a whole rectangle, so both must give the same pixels; what other photos left in
a worker's memory must not show.
"""

import numpy as np
import pytest
from PIL import Image

import penstock as ps
from penstock import transforms as T

SIZES = [(300, 420), (611, 257), (97, 800), (512, 512), (33, 41), (480, 640)]

WARPS = {
    "rotation": [T.RandomRotation(180, interpolation="bilinear", fill=9)],
    "expanded": [T.RandomRotation(180, interpolation="bicubic", expand=True)],
    "affine": [T.RandomAffine(60, (0.2, 0.2), (0.5, 1.5), (-20, 20, -20, 20))],
    "perspective": [T.RandomPerspective(0.6, p=1.0, interpolation="bilinear")],
    "mirrored": [T.RandomVerticalFlip(), T.RandomHorizontalFlip(), T.RandomRotation(90)],
    "gray": [T.RandomGrayscale(0.5), T.RandomRotation(45, interpolation="bilinear")],
}


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    (folder / "a").mkdir()
    random = np.random.default_rng(5)
    for number, (height, width) in enumerate(SIZES):
        coarse = random.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), dtype=np.uint8)
        photo = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        subsampling = number % 3
        photo.save(folder / "a" / f"{number}.jpg", quality=92, subsampling=subsampling)
    packed = folder.parent / "photos.pen"
    ps.pack(folder, packed)
    return folder, packed


@pytest.mark.parametrize("fidelity", ["exact", "fast"])
@pytest.mark.parametrize("name", WARPS)
def test_packed_photos_are_warped_as_files_are(photos, name, fidelity):
    steps = [*WARPS[name], T.RandomCrop((24, 24), pad_if_needed=True), T.Resize((20, 16))]
    folder, packed = (
        ps.Loader(
            data,
            batch_size=4,
            transform=T.Compose(steps),
            shuffle=True,
            seed=3,
            fidelity=fidelity,
            output="numpy",
            threads=2,
        )
        for data in photos
    )
    for _ in range(6):
        for (ours, _), (theirs, _) in zip(packed, folder, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_photos_warped_after_a_crop_are_those_of_the_plan_as_written(photos):
    steps = T.Compose(
        [
            T.RandomRotation(180, interpolation="bilinear"),
            T.CenterCrop((60, 80)),
            T.ColorJitter(0.4, 0.4, 0.4),
        ]
    )
    planned, written = (
        ps.Loader(photos[1], batch_size=3, transform=steps, seed=1, output="numpy", plan=plan)
        for plan in (True, False)
    )
    for _ in range(8):
        for (ours, _), (theirs, _) in zip(planned, written, strict=True):
            np.testing.assert_array_equal(ours, theirs)
