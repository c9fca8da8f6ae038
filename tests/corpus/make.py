"""Our own test data, made once and kept in build/: photos, odd files, detection and data sets.

It has the folders of the larger outside data, so that one test reads either:
`in1k`, `large`, `tough`, `detect`. See also corpus/layouts.py for data sets of many layouts.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import PIL

from corpus.damage import damaged_jpegs
from corpus.detection import write_coco_and_yolo, write_voc
from corpus.odd_images import odd_images
from corpus.odd_jpegs import odd_jpegs
from corpus.photos import photo, write_large, write_ordinary

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RARE = HERE.parent / "data" / "rare_jpegs"
MAKERS = (odd_jpegs, odd_images, damaged_jpegs)
ODD_SIZE = (47, 61)  # no multiple of a block, and small: there are hundreds of them


def corpus_folder() -> Path:
    """Return the folder with all of it, making it where it is not there or out of date."""
    build = CHECKOUT / "build"
    build.mkdir(exist_ok=True)
    target = build / f"corpus-{_recipe()}"
    with (build / "corpus.lock").open("w") as lock:  # several test processes may start together
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            for older in build.glob("corpus-*"):
                shutil.rmtree(older)
            unfinished = Path(tempfile.mkdtemp(prefix="unfinished-corpus-", dir=build))
            _write(unfinished)
            os.rename(unfinished, target)
    return target


def _recipe() -> str:
    """What the files depend on, so that older ones are not taken for these."""
    digest = hashlib.sha256(PIL.__version__.encode())
    sources = [*HERE.glob("*.py"), *RARE.glob("*.jpg")]
    sources.append(CHECKOUT / "src" / "penstock" / "demo" / "sample_photo.py")
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _write(folder: Path) -> None:
    for name in ("in1k", "large", "tough", "detect"):
        (folder / name).mkdir()
    write_ordinary(folder / "in1k")
    write_large(folder / "large")
    write_voc(folder / "detect" / "voc")
    image = photo(0, *ODD_SIZE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pycocotools, and of Pillow about odd modes
        write_coco_and_yolo(folder / "detect" / "coco")
        for make in MAKERS:
            for name, content in make(image):
                path = folder / "tough" / name
                assert not path.exists(), name
                path.write_bytes(content)
    for path in RARE.glob("*.jpg"):
        content = path.read_bytes()
        (folder / "tough" / path.name).write_bytes(content)
        (folder / "tough" / f"{path.stem}_cut.jpg").write_bytes(content[: len(content) * 2 // 3])
