"""How much of its speed a loader keeps when its data is in a store, and what it asks of the store.

    python -m benchmarks.object_store --data FOLDER --latency 0.05 --bandwidth 1e9

A web server on this machine (nginx, or a small one of the tests) serves a packed file, behind a
proxy that is late and narrow as a bucket is. Server, proxy and loader share this machine's cores,
so beside images per second there is the CPU time of the loader's own process for each image, which
the others do not change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import penstock as ps
from benchmarks.dataset import CHECKOUT, default_folder
from penstock import transforms as T

CROPS: dict[str, Any] = {
    "crops": T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip()]),
    "randaugment": T.Compose(
        [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.RandAugment(2, 9)]
    ),
}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of JPEG files to measure with")
    parser.add_argument("--copies", type=int, default=16, help="of each file in the packed one")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of each request")
    parser.add_argument("--bandwidth", type=float, default=1e9, help="bytes a second, of all")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that fail")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=6.0, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--transform", choices=CROPS, default="crops")
    parser.add_argument("--ways", default="local,window,cache,global")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE")
    return parser.parse_args()


def main() -> None:
    """Measure, and print a table."""
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        packed = pack_copies(args.data or default_folder(), Path(folder), args.copies)
        with served(packed.parent) as port, proxied(port, args) as address:
            ways = args.ways.split(",")
            loaders = {way: open_way(way, packed, address, args, folder) for way in ways}
            figures: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
            for _ in range(args.rounds):
                for way, loader in loaders.items():
                    figures[way].append(turn(loader, args.seconds, args.batch_size))
            for loader in loaders.values():
                loader.close()
    print_table(figures)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


def pack_copies(data: Path, folder: Path, copies: int) -> Path:
    """Pack each image several times: under names of its own, so that nothing is shared."""
    for copy in range(copies):
        images = folder / "images" / f"class{copy:03d}"
        images.mkdir(parents=True)
        for path in sorted(data.rglob("*.JPEG")) or sorted(data.rglob("*.jpg")):
            (images / path.name).symlink_to(path.resolve())
    packed = folder / "served" / "train.pen"
    packed.parent.mkdir()
    ps.pack(folder / "images", packed)
    return packed


def open_way(
    way: str, packed: Path, address: str, args: argparse.Namespace, folder: str
) -> ps.Loader:
    """Return the loader that reads in one of the ways."""
    options: dict[str, Any] = {
        "batch_size": args.batch_size,
        "transform": CROPS[args.transform],
        "shuffle": True,
        "threads": args.threads,
    }
    if way in {"window", "local-window"}:
        options["sampling"] = ps.WindowShuffle(blocks=16)
    if way == "cache":
        options |= {"cache": f"{folder}/cache", "cache_limit": "20 GB"}
    return ps.Loader(packed if way.startswith("local") else address, **options)


def turn(loader: ps.Loader, seconds: float, batch_size: int) -> dict[str, float]:
    """Load for so long; the first quarter is not counted, for it fills what is read ahead."""
    images, begin, cpu, before = 0, 0.0, 0.0, loader.io
    start = time.perf_counter()
    first = 0.0
    counted = False
    while time.perf_counter() - start < seconds:
        for batch, _ in loader:
            now = time.perf_counter()
            first = first or now - start
            if counted:
                images += len(batch)
            elif now - start > seconds / 4:
                counted, begin, cpu, before = True, now, time.process_time(), loader.io
            if now - start > seconds:
                break
    spent, cpu_spent = time.perf_counter() - begin, time.process_time() - cpu
    found = {
        "images_per_s": images / spent,
        "cpu_us_per_image": 1e6 * cpu_spent / max(images, 1),
        "first_batch_s": first,
    }
    if loader.io is not None and before is not None and images:
        found["requests_per_batch"] = (loader.io.requests - before.requests) * batch_size / images
        found["bytes_per_image"] = (loader.io.bytes_read - before.bytes_read) / images
        source: Any = loader.source
        sizes = [file.facts("size").astype(float).mean() for file in source.packed.files]
        found["record_bytes"] = float(median(sizes))
    return found


def print_table(figures: dict[str, list[dict[str, float]]]) -> None:
    """Print medians over the rounds; ways are compared with the first."""
    base = [one["images_per_s"] for one in next(iter(figures.values()))]
    print(f"{'':14}{'images/s':>10}{'of first':>10}{'CPU us/image':>14}{'first s':>9}"
          f"{'requests/batch':>16}{'bytes/image':>13}{'least':>10}")  # fmt: skip
    for way, rounds in figures.items():

        def middle(name: str, rounds: list[dict[str, float]] = rounds) -> float:
            return median(one.get(name, float("nan")) for one in rounds)

        ratio = median(one["images_per_s"] / other for one, other in zip(rounds, base, strict=True))
        print(
            f"{way:14}{middle('images_per_s'):10,.0f}{ratio:10.0%}"
            f"{middle('cpu_us_per_image'):14,.0f}{rounds[0]['first_batch_s']:9.2f}"
            f"{middle('requests_per_batch'):16,.1f}{middle('bytes_per_image'):13,.0f}"
            f"{middle('record_bytes'):10,.0f}"
        )


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """Serve the files of a folder; gives the port."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from servers import nginx  # type: ignore[import-not-found]
    from servers.range_server import RangeServer  # type: ignore[import-not-found]

    if nginx.install() is None:
        state = folder.parent / "nginx"
        server = nginx.Nginx(folder, state)
        port = server.plain_port
        print("served by nginx")
    else:
        files = {f"/{path.name}": path.read_bytes() for path in folder.iterdir()}
        server = RangeServer(files)
        port = server.port
        print("served by the tests' own server")
    try:
        yield port
    finally:
        server.close()


@contextmanager
def proxied(port: int, args: argparse.Namespace) -> Iterator[str]:
    """Put the proxy before the server, in a process of its own; gives the file's address."""
    if not args.latency and not args.faults:
        yield f"http://127.0.0.1:{port}/train.pen"
        return
    words = [sys.executable, "-m", "tests.servers.faulty_proxy", "--target", f"127.0.0.1:{port}"]
    words += ["--latency", str(args.latency), str(args.latency), "--faults", str(args.faults)]
    proxy = subprocess.Popen(
        [*words, "--bandwidth", str(args.bandwidth)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert proxy.stdout is not None  # noqa: S101  as asked for
    try:
        yield f"http://127.0.0.1:{int(proxy.stdout.readline())}/train.pen"
    finally:
        proxy.kill()
        proxy.communicate()


if __name__ == "__main__":
    main()
