"""Files that cannot be used: named, counted, never passed off as something else."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from penstock import DecodeError, Loader
from penstock import transforms as T

TRANSFORM = T.Compose([T.Resize((24, 24))])
BAD = {"cut.jpg", "empty.jpg", "text.jpg"}


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def events(loader: Loader) -> dict[str, tuple[str, str]]:
    """File name: (event, reason)."""
    return {Path(e.file).name: (e.event, e.reason) for e in loader.ledger}


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_raise_names_file_and_reason(broken_folder: Path, backend: str) -> None:
    """The default: the first bad file of the epoch stops it."""
    loader = Loader(
        broken_folder, batch_size=8, transform=TRANSFORM, output="numpy", backend=backend
    )

    with pytest.raises(DecodeError, match=r"cut\.jpg: .*truncated.*on_error"):
        list(loader)


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_skip_leaves_bad_files_out(broken_folder: Path, backend: str) -> None:
    """Batches get shorter, labels stay with their images, the ledger tells."""
    common = {"transform": TRANSFORM, "output": "numpy"}
    loader = Loader(broken_folder, batch_size=8, on_error="skip", backend=backend, **common)

    images, labels = (np.concatenate(parts) for parts in zip(*loader, strict=True))

    good = [p for p in sorted(broken_folder.rglob("*.*")) if p.name not in BAD]
    expected = Loader(good, labels=[int(p.parent.name[-1]) for p in good], **common, batch_size=99)
    expected_images, expected_labels = next(iter(expected))
    np.testing.assert_array_equal(images, expected_images)
    np.testing.assert_array_equal(labels, expected_labels)
    skipped = {name for name, (event, _) in events(loader).items() if event == "skipped"}
    assert skipped == BAD


def test_slow_paths_are_in_the_ledger(broken_folder: Path) -> None:
    """What was not decoded by our own decoder is told, with the reason."""
    loader = Loader(broken_folder, transform=TRANSFORM, on_error="skip", output="numpy")
    list(loader)

    told = events(loader)
    assert told["picture.png"] == ("pillow", "not a JPEG")
    assert told["rgb.jpg"] == ("libjpeg", "RGB")
    assert told["cmyk.jpg"][0] == "pillow"
    assert told["marker.jpg"][0] == "pillow"
    assert told["empty.jpg"] == ("skipped", "is empty (0 bytes)")
    assert loader.ledger.counts() == {"libjpeg": 1, "pillow": 3, "skipped": 3}


def test_substitute_takes_the_next_good_sample(broken_folder: Path) -> None:
    """Image and label of the neighbour, draws of the place it fills."""
    common = {"transform": TRANSFORM, "output": "numpy", "batch_size": 99}
    files = sorted(broken_folder.rglob("*.*"))
    labels = list(range(len(files)))

    images, given = next(iter(Loader(files, labels=labels, on_error="substitute", **common)))

    bad = [i for i, p in enumerate(files) if p.name in BAD]
    expected = labels.copy()
    for i in reversed(bad):
        expected[i] = expected[(i + 1) % len(files)]
    assert given.tolist() == expected
    for i in bad:
        np.testing.assert_array_equal(images[i], images[expected[i]])


def test_nothing_to_substitute_is_an_error(tmp_path: Path) -> None:
    """It does not go round for ever."""
    for name in "abc":
        (tmp_path / f"{name}.jpg").write_bytes(b"\xff\xd8\xff broken")
    loader = Loader(
        sorted(tmp_path.iterdir()), transform=TRANSFORM, on_error="substitute", output="numpy"
    )

    with pytest.raises(DecodeError, match="nothing to substitute"):
        list(loader)


def test_a_batch_of_bad_files_only_is_passed_over(tmp_path: Path, folder: Path) -> None:
    """No empty batch reaches the training loop."""
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"nothing")
    good = sorted(folder.rglob("*.jpg"))[:2]
    loader = Loader(
        [bad, bad, *good], batch_size=2, transform=TRANSFORM, on_error="skip", output="numpy"
    )

    assert [len(images) for images in loader] == [2]


@pytest.mark.parametrize("backend", ["native", "pillow"])
def test_pixel_limit(folder: Path, backend: str) -> None:
    """A header that promises too much is refused before memory is asked for."""
    loader = Loader(folder, transform=TRANSFORM, pixel_limit=1000, output="numpy", backend=backend)

    with pytest.raises(DecodeError, match=r"pixels, more than pixel_limit=1,000 allows"):
        next(iter(loader))


def test_missing_file_is_named(folder: Path) -> None:
    """Gone since the list was made."""
    loader = Loader([folder / "gone.jpg"], transform=TRANSFORM, output="numpy")

    with pytest.raises(DecodeError, match=r"gone\.jpg: cannot be opened \(No such file"):
        next(iter(loader))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this platform")
def test_thirty_epochs_leave_memory_flat_and_the_ledger_alike(broken_folder: Path) -> None:
    """Broken files cost nothing that stays."""
    loader = Loader(
        broken_folder,
        batch_size=8,
        transform=TRANSFORM,
        on_error="skip",
        shuffle=True,
        output="numpy",
    )
    ledgers, resident = [], []
    for _ in range(30):
        for _images, _labels in loader:
            pass
        ledgers.append(list(loader.ledger))
        resident.append(resident_bytes())

    assert all(ledger == ledgers[0] for ledger in ledgers)
    assert max(resident[15:]) - max(resident[5:15]) < 8 << 20
