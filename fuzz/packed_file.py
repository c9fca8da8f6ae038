"""Mutates a small packed file and opens it: nothing but PackError may come out, and never a fault.

Half of the mutants have their checksums put right again, so that they get past the first checks.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import PIL.Image

from penstock import DecodeError, Loader, PackError, pack, verify
from penstock import transforms as T
from penstock.packing.format import HEADER_BYTES, TAIL_BYTES, Tail
from penstock.packing.shards import open_packed


def seed_file(folder: Path) -> bytes:
    """Pack a few tiny images of every storage."""
    rng = np.random.default_rng(0)
    files = []
    for number, (suffix, mode) in enumerate([("jpg", "RGB"), ("jpg", "L"), ("png", "RGB")] * 2):
        pixels = rng.integers(0, 256, (9 + number, 12, 3), dtype=np.uint8)
        path = folder / f"{number}.{suffix}"
        PIL.Image.fromarray(pixels).convert(mode).save(path)
        files.append(path)
    target = folder / "seed.pen"
    pack(files, target, progress=False)
    return target.read_bytes()


def mutate(rng: random.Random, seed: bytes) -> bytes:
    """Change some bytes, cut or repeat a piece, and perhaps put the footer's checksum right."""
    data = bytearray(seed)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        place = rng.randrange(len(data))
        if rng.random() < 0.8:
            place = rng.choice([place, len(data) - 1 - rng.randrange(min(2000, len(data)))])
            data[place] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        elif rng.random() < 0.5:
            del data[place : place + rng.randrange(1, 64)]
        else:
            data[place:place] = data[place : place + rng.randrange(1, 64)]
    if rng.random() < 0.5 and len(data) > HEADER_BYTES + TAIL_BYTES:
        repair(data)
    return bytes(data)


def repair(data: bytearray) -> None:
    """Recompute the checksums of header, directory and footer where they can be found."""
    head = bytes(data[: HEADER_BYTES - 4])
    data[HEADER_BYTES - 4 : HEADER_BYTES] = zlib.crc32(head).to_bytes(4, "little")
    tail = bytes(data[-TAIL_BYTES:-8])
    data[-8:-4] = zlib.crc32(tail).to_bytes(4, "little")


def use(path: Path) -> None:
    """Do what a user would: open it, read everything, check it, train on it."""
    try:
        packed = open_packed(path)
        for index in range(min(len(packed), 16)):
            packed.sample(index)
            for column in packed.schema:
                packed.value(column.name, index)
        verify(path, progress=False)
        loader = Loader(path, transform=T.Resize((8, 8)), output="numpy", on_error="skip")
        for _batch in loader:
            pass
        loader.close()
    except (PackError, DecodeError):
        pass


def main() -> int:
    """Mutate until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        seed = seed_file(Path(folder))
        Tail.from_bytes(seed[-TAIL_BYTES:], len(seed), "seed")
        mutant = Path(folder) / "mutant.pen"
        end_s = time.monotonic() + args.seconds
        while time.monotonic() < end_s:
            data = mutate(rng, seed)
            mutant.write_bytes(data)
            try:
                use(mutant)
            except BaseException:
                kept = Path("build/fuzz/findings")
                kept.mkdir(parents=True, exist_ok=True)
                (kept / "packed_file.pen").write_bytes(data)
                print(f"fuzz: packed_file: see {kept / 'packed_file.pen'}", file=sys.stderr)
                raise
            tried += 1
    print(f"fuzz: packed_file for {args.seconds:.0f} s\nstat::number_of_executed_units: {tried}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
