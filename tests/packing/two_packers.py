"""Packs to one target from several processes at once, some of them killed.

A test runs this a few times; more rounds: `python tests/packing/two_packers.py FOLDER ROUNDS`, with
`tests` in PYTHONPATH.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from packing import fake_jpegs
from packing.samples import mixed_source
from penstock.errors import PackError
from penstock.packing import parts, records, write
from penstock.packing.pack import pack
from penstock.packing.verify import verify

SAMPLES = 40
SLOW_S = 0.001  # so that packs meet at all stages
DONE, REFUSED, WRONG = 0, 3, 4


def slow_encode(data):
    time.sleep(SLOW_S)
    return fake_jpegs.encode_jpeg(data)


def start(source, target, shards, *, resume):
    child = os.fork()
    if child == 0:
        status = WRONG
        try:
            pack(source, target, shards=shards, resume=resume, threads=2, progress=False)
            status = DONE
        except PackError as error:
            told = "another process is writing it: pid" in str(error)
            status = REFUSED if told or not resume else WRONG
            if status == WRONG:
                sys.stderr.write(f"{error}\n")
        finally:
            os._exit(status)
    return child


def contents(target, shards):
    files = sorted(target.iterdir()) if shards > 1 else [target]
    return {file.name if shards > 1 else "": file.read_bytes() for file in files}


def one_round(folder, shards, moments, whole_s, seen):
    """Three packs at once, of which the first is killed at a random moment; then one that ends."""
    target = folder / "target.pen"
    source = mixed_source(SAMPLES)
    children = [start(source, target, shards, resume=True) for _ in range(2)]
    children.append(start(source, target, shards, resume=False))
    time.sleep(moments.uniform(0, whole_s))
    os.kill(children[0], signal.SIGKILL)
    children.append(start(source, target, shards, resume=True))  # the lock is free by now, or taken
    for child in children:
        status = os.waitpid(child, 0)[1]
        seen["killed" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)] += 1
    last = start(source, target, shards, resume=True)
    assert os.waitpid(last, 0)[1] == DONE
    return target


def main():
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    records.encode_jpeg = slow_encode
    parts.tile_layout = fake_jpegs.tile_layout
    write.PackWriter.__init__.__kwdefaults__["sync_bytes"] = 10_000
    seen = Counter()
    for shards in (1, 3):
        whole = folder / f"whole{shards}.pen"
        began = time.monotonic()
        assert os.waitpid(start(mixed_source(SAMPLES), whole, shards, resume=False), 0)[1] == DONE
        whole_s = time.monotonic() - began
        moments = random.Random(shards)
        for _ in range(rounds):
            target = one_round(folder, shards, moments, whole_s, seen)
            assert contents(target, shards) == contents(whole, shards)
            assert verify(target).intact
            left = sorted(set(os.listdir(folder)) - {"whole1.pen", "whole3.pen"})
            assert left == ["target.pen"], left
            target.unlink() if shards == 1 else shutil.rmtree(target)
    assert not seen[WRONG], seen
    counts = {"done": seen[DONE], "refused": seen[REFUSED], "killed": seen["killed"]}
    sys.stdout.write(f"{2 * rounds} rounds: {counts}\n")


if __name__ == "__main__":
    main()
