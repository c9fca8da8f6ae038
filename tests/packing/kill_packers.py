"""Packs in child processes that are killed at random moments, then resumed: run by a test."""

import os
import random
import signal
import sys
import time
from pathlib import Path

from packing import fake_jpegs
from packing.samples import mixed_source
from penstock.packing import parts, records, write
from penstock.packing.pack import pack

SAMPLES = 60
SLOW_S = 0.001  # so that kills meet all stages of a pack


def slow_encode(data):
    time.sleep(SLOW_S)
    return fake_jpegs.encode_jpeg(data)


def start(source, target, *, resume):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            pack(source, target, resume=resume, threads=2, progress=False)
            status = 0
        finally:
            os._exit(status)
    return child


def pack_and_kill(source, target, after_s, *, resume):
    """Return whether the kill came before the pack was done."""
    child = start(source, target, resume=resume)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main():
    folder, wanted = Path(sys.argv[1]), int(sys.argv[2])
    records.encode_jpeg = slow_encode
    parts.tile_layout = fake_jpegs.tile_layout
    write.PackWriter.__init__.__kwdefaults__["sync_bytes"] = 10_000
    source = mixed_source(SAMPLES)
    began = time.monotonic()
    child = start(source, folder / "whole.pen", resume=False)
    assert os.waitpid(child, 0)[1] == 0
    whole_s = time.monotonic() - began
    whole = (folder / "whole.pen").read_bytes()
    moments = random.Random(0)
    killed = 0
    while killed < wanted:
        target = folder / "killed.pen"
        killed += pack_and_kill(source, target, moments.uniform(0, whole_s), resume=True)
        killed += pack_and_kill(source, target, moments.uniform(0, whole_s / 2), resume=True)
        child = start(source, target, resume=True)
        assert os.waitpid(child, 0)[1] == 0
        assert target.read_bytes() == whole
        assert sorted(os.listdir(folder)) == ["killed.pen", "whole.pen"]
        target.unlink()
    sys.stdout.write(f"{min(killed, wanted)} killed\n")


if __name__ == "__main__":
    main()
