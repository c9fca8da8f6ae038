"""Make rare_jpegs/: files that neither Pillow nor our own encoder writes.

Run once, from the checkout, where libjpeg-turbo's cjpeg and jpegtran are installed (Debian:
libjpeg-turbo-progs); tests only read what is committed:

    .venv/bin/python tests/data/make_rare_jpegs.py
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from corpus.photos import photo  # noqa: E402

# Bits of the coefficients one after the other, out of the usual order, and chroma first.
SCANS = """
1: 0-0, 0, 1;
0: 0-0, 0, 3;
2: 0-0, 0, 0;
0: 1-9, 0, 2;
1: 1-63, 0, 1;
2: 1-63, 0, 0;
0: 10-63, 0, 2;
0: 1-63, 2, 1;
0: 0-0, 3, 2;
0: 0-0, 2, 1;
1: 0-0, 1, 0;
1: 1-63, 1, 0;
0: 1-63, 1, 0;
0: 0-0, 1, 0;
"""
FILES = {
    "arithmetic_420": ["-arithmetic"],
    "arithmetic_444": ["-arithmetic", "-sample", "1x1"],
    "arithmetic_411": ["-arithmetic", "-sample", "4x1"],
    "arithmetic_restart": ["-arithmetic", "-restart", "3B"],
    "arithmetic_gray": ["-arithmetic", "-grayscale"],
    "arithmetic_progressive": ["-arithmetic", "-progressive"],
    "arithmetic_progressive_restart": ["-arithmetic", "-progressive", "-restart", "1"],
    "arithmetic_rgb": ["-arithmetic", "-rgb"],
    "bit_by_bit": ["-scans", "scans.txt"],
    "bit_by_bit_411": ["-scans", "scans.txt", "-sample", "4x1"],
    "bit_by_bit_restart": ["-scans", "scans.txt", "-restart", "2B"],
    "bit_by_bit_arithmetic": ["-scans", "scans.txt", "-arithmetic"],
    "smooth": ["-smooth", "40", "-quality", "20"],
    "coarse_chroma": ["-quality", "90,10", "-sample", "2x1"],
    "fine_chroma": ["-quality", "95", "-sample", "1x2"],
    "float_transform": ["-dct", "float", "-optimize"],
}
TURNS = {
    "turned": ["-rotate", "90"],
    "mirrored": ["-transverse"],
    "cropped": ["-crop", "32x24+8+8"],
}


def main() -> None:
    """Write every file."""
    folder = HERE / "rare_jpegs"
    folder.mkdir(exist_ok=True)
    scans = folder / "scans.txt"
    scans.write_text(SCANS)
    file = io.BytesIO()
    photo(1, 47, 61).save(file, "PPM")
    for name, options in FILES.items():
        data = _run(["cjpeg", "-quality", "80", *options], file.getvalue(), folder)
        (folder / f"{name}.jpg").write_bytes(data)
    whole = (folder / "fine_chroma.jpg").read_bytes()
    for name, options in TURNS.items():
        (folder / f"{name}.jpg").write_bytes(_run(["jpegtran", *options], whole, folder))
    scans.unlink()


def _run(command: list[str], data: bytes, folder: Path) -> bytes:
    return subprocess.run(
        command, input=data, stdout=subprocess.PIPE, check=True, cwd=folder
    ).stdout


if __name__ == "__main__":
    main()
