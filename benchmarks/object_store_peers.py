"""penstock and its peers on the same bucket: `python -m benchmarks.object_store_peers --write`.

A real S3 server on this machine (Ceph's gateway, by the tests' scripts) holds the same photos in
the form of each library, behind a proxy that is late and narrow as a network is, and counts. Each
library runs in a process and an environment of its own, that of `penstock bench`; they take
turns. Server, proxy and library share this machine's cores.

An epoch is all photos once, shuffled, with the same transform: torchvision on Pillow for the peers.
The first epoch begins with nothing on this machine; in the second, libraries that keep what they
downloaded read it from the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.dataset import CHECKOUT, default_folder, image_paths
from benchmarks.environment import cpu_name, system_name
from benchmarks.peer_venvs import PINS, CannotInstallError, python_of
from benchmarks.table import aligned

RESULT = CHECKOUT / "benchmarks" / "results" / "object_store_peers.md"
BUCKET = "photos"
SHARD_BYTES = 32_000_000
STALL_S = 30.0


@dataclass(frozen=True, slots=True)
class Peer:
    """A library in one way of use."""

    name: str
    module: str  # in benchmarks.store_peers
    form: str  # the folder of the bucket that holds its data
    venv: str | None = None  # None is this environment

    @property
    def python(self) -> str:
        """The interpreter of its environment, which is made if it is not there."""
        return sys.executable if self.venv is None else python_of(self.venv, print)


PEERS = (
    Peer("penstock, windows", "penstock_peer", "penstock"),
    Peer("penstock, cache", "penstock_peer", "penstock"),
    Peer("penstock, single records", "penstock_peer", "penstock"),
    Peer("MosaicML Streaming", "streaming_peer", "mds", "streaming"),
    Peer("LitData", "litdata_peer", "litdata", "litdata"),
    Peer("WebDataset", "webdataset_peer", "tar", "webdataset"),
)


class Proxy:
    """The narrow way to the server, in a process of its own."""

    def __init__(self, port: int, args: argparse.Namespace) -> None:
        words = ["-m", "tests.servers.faulty_proxy", "--target", f"127.0.0.1:{port}"]
        words += ["--latency", str(args.latency), str(args.latency)]
        self._process = subprocess.Popen(
            [sys.executable, *words, "--bandwidth", str(args.bandwidth)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = f"http://127.0.0.1:{int(self._answer())}"

    def _answer(self) -> str:
        assert self._process.stdout is not None  # noqa: S101  as asked for
        return self._process.stdout.readline()

    def counts(self) -> tuple[int, int]:
        """Return the requests and bytes that have passed so far."""
        assert self._process.stdin is not None  # noqa: S101  as asked for
        self._process.stdin.write("counts\n")
        self._process.stdin.flush()
        told = json.loads(self._answer())
        return told.get("requests", 0), told.get("bytes", 0)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def ceph_server(folder: Path) -> Iterator[Any]:
    """Start Ceph's gateway with an empty bucket."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from servers import ceph  # type: ignore[import-not-found]

    why = ceph.install()
    if why is not None:
        raise SystemExit(f"Ceph cannot be had here: {why}")
    server = ceph.Ceph(folder)
    try:
        server.make_bucket(BUCKET)
        yield server
    finally:
        server.close()


def command(peer: Peer, told: dict[str, Any]) -> list[str]:
    """Return the command that does something in a peer's environment."""
    return [peer.python, "-m", f"benchmarks.store_peers.{peer.module}", json.dumps(told)]


def environment(server: Any, address: str, temporary: Path) -> dict[str, str]:
    """Return the variables by which all libraries find the server, and a TMPDIR of their own."""
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        **server.environment(address),
        "AWS_ENDPOINT_URL": address,
        "S3_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
        "TMPDIR": str(temporary),
        "HOME": str(temporary),
    }


def upload(server: Any, peers: list[Peer], files: list[str], folder: Path) -> dict[str, Any]:
    """Write the photos in the form of each peer, and put them into the bucket; returns sizes."""
    import obstore

    store = obstore.store.S3Store(
        BUCKET,
        endpoint=server.endpoint,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )
    sizes: dict[str, Any] = {}
    for peer in peers:
        if peer.form in sizes:
            continue
        target = folder / "forms" / peer.form
        told = {"do": "write", "files": files, "target": str(target), "shard_bytes": SHARD_BYTES}
        variables = environment(server, server.endpoint, folder / "tmp" / peer.form)
        done = subprocess.run(
            command(peer, told), cwd=CHECKOUT, env=variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{peer.name}: {done.stderr[-2000:]}")
        paths = sorted(path for path in target.rglob("*") if path.is_file())
        for path in paths:
            obstore.put(store, f"{peer.form}/{path.relative_to(target).as_posix()}", path)
        sizes[peer.form] = (len(paths), sum(path.stat().st_size for path in paths))
        print(
            f"{peer.form}: {sizes[peer.form][0]} objects, {sizes[peer.form][1]:,} bytes", flush=True
        )
        shutil.rmtree(target)
    return sizes


def tar_addresses(server: Any, address: str, shards: int) -> list[str]:
    """Return signed addresses of the tar files, for curl."""
    from datetime import timedelta

    import obstore

    store = obstore.store.S3Store(
        BUCKET,
        endpoint=address,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )
    names = [f"tar/{number:05d}.tar" for number in range(shards)]
    return [obstore.sign(store, "GET", name, timedelta(hours=12)) for name in names]


def turn(peer: Peer, told: dict[str, Any], variables: dict[str, str], proxy: Proxy) -> list[Any]:
    """Run a peer's epochs; returns what each took, with requests and bytes."""
    before = proxy.counts()
    process = subprocess.Popen(
        command(peer, told), cwd=CHECKOUT, env=variables, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None  # noqa: S101  as asked for
    assert process.stdout is not None  # noqa: S101  as asked for
    found: list[Any] = []
    for line in process.stdout:
        if not line.startswith("{"):
            continue
        after = proxy.counts()
        epoch = json.loads(line)
        epoch["requests"], epoch["bytes"] = after[0] - before[0], after[1] - before[1]
        before = after
        found.append(epoch)
        process.stdin.write("\n")
        process.stdin.flush()
    errors = process.communicate()[1]
    if process.returncode or len(found) < told["epochs"]:
        raise RuntimeError(f"{peer.name}: {errors[-2000:]}")
    return found


def _last_line(error: Exception) -> str:
    """Return the line of a traceback that names the error."""
    lines = [line for line in str(error).splitlines() if "Error" in line and line[0] != " "]
    return (lines or ["no reason given"])[-1][:300]


def rows_of(found: dict[str, list[list[Any]]], epoch: int) -> list[tuple[str, ...]]:
    """Return the table of an epoch: medians over the rounds."""
    head = ("library", "images/s", "of the first", "first batch, s", "requests for 1,000 images",
            "kB an image", "memory, MB")  # fmt: skip
    rows: list[tuple[str, ...]] = [head]
    base: float | None = None
    for name, rounds in found.items():
        epochs = [turns[epoch] for turns in rounds]
        rate = median(one["images"] / one["seconds"] for one in epochs)
        base = base or rate
        images = epochs[0]["images"]
        rows.append(
            (
                name,
                f"{rate:,.0f}",
                f"{rate / base:.0%}",
                f"{median(one['first_batch_s'] for one in epochs):.2f}",
                f"{median(one['requests'] for one in epochs) * 1000 / images:,.1f}",
                f"{median(one['bytes'] for one in epochs) / images / 1000:,.1f}",
                f"{median(one['memory_mb'] for one in epochs):,.0f}",
            )
        )
    return rows


def report(
    found: dict[str, list[list[Any]]],
    refused: dict[str, str],
    args: argparse.Namespace,
    files: list[str],
    sizes: dict[str, Any],
) -> str:
    """Return all of it as Markdown."""
    stored = ", ".join(
        f"{form} {size / 1e6:,.0f} MB in {count}" for form, (count, size) in sizes.items()
    )
    load = os.getloadavg()[2]
    versions = [
        f"{line}"
        for name in ("streaming", "litdata", "webdataset")
        for line in (PINS / "peers" / f"{name}.txt").read_text().splitlines()
        if line.startswith(("mosaicml", "litdata", "webdataset"))
    ]
    lines = [
        "# penstock and its peers on the same bucket",
        "",
        (
            f"`python -m benchmarks.object_store_peers --copies {args.copies} --rounds "
            f"{args.rounds} --batch-size {args.batch_size} --write`"
        ),
        "",
        f"{cpu_name()}, {os.cpu_count()} cores, {system_name()}; {', '.join(versions)}.",
        (
            f"{len(files):,} photos, shuffled, RandomResizedCrop(224), flip, normalised to "
            f"float32; batches of {args.batch_size}; two workers, or two threads of penstock."
        ),
        (
            f"Ceph's S3 gateway through a proxy that adds {args.latency * 1000:.0f} ms to each "
            f"request and lets {args.bandwidth / 1e9:.3g} GB/s pass; both compute on these cores."
        ),
        f"Objects: {stored}.",
        (
            f"Libraries took turns, {args.rounds} each; medians. The machine's load was "
            f"{load:.0f} at the end; if it is more than 4, other work was done there as well."
        ),
        "",
        "## The first epoch, with nothing on this machine",
        "",
        "From making the loader to the last batch; imports are not counted.",
        "",
        *aligned(rows_of(found, 0)),
        "",
        "## The second epoch",
        "",
        "Streaming, LitData and penstock's cache have the data on the disk now.",
        "Of a data set this small, penstock still has a part in memory without a cache, too.",
        "",
        *aligned(rows_of(found, 1)),
        "",
        "Requests and bytes are counted by the proxy; memory is of all processes of a library.",
        "Shuffling is not the same: penstock's windows are of 16 blocks, some 560 images; with the",
        "cache, and by single records, it shuffles globally; Streaming and LitData shuffle within",
        "groups of shards, WebDataset in a buffer of 1,000 images for each worker.",
    ]
    lines += [f"\n{name}: {why}." for name, why in (*refused.items(), *_stalled(found))]
    return "\n".join(lines) + "\n"


def _stalled(found: dict[str, list[list[Any]]]) -> Iterator[tuple[str, str]]:
    """Say whose first epoch is no measure of its speed."""
    for name, turns in found.items():
        waited = [turn[0]["first_batch_s"] for turn in turns]
        if median(waited) > STALL_S:
            told = ", ".join(f"{one:.0f}" for one in waited)
            why = (
                f"its turns waited {told} s for their first batch. Why was not looked into, and it "
                "may be this set-up, so its first epoch is not its speed"
            )
            yield name, why


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, help="a folder of JPEG files")
    parser.add_argument("--photos", type=int, default=256, help="of them that are used")
    parser.add_argument("--copies", type=int, default=12, help="of each photo")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of each request")
    parser.add_argument("--bandwidth", type=float, default=1e9, help="bytes a second, of all")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", help="names to measure, with ; between them")
    parser.add_argument("--folder", type=Path, help="where to keep files; default: temporary")
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}, too")
    return parser.parse_args()


def main() -> None:
    """Measure, and print or write a report."""
    args = parse()
    wanted = [peer for peer in PEERS if args.peers is None or peer.name in args.peers.split(";")]
    refused: dict[str, str] = {}
    for peer in wanted:
        try:
            print(peer.name, "runs with", peer.python, flush=True)
        except CannotInstallError as error:
            refused[peer.name] = str(error)
    wanted = [peer for peer in wanted if peer.name not in refused]
    files = list(image_paths(args.data or default_folder(), args.photos * args.copies))
    found: dict[str, list[list[Any]]] = {peer.name: [] for peer in wanted}
    failed: dict[str, list[str]] = {}
    with (
        tempfile.TemporaryDirectory(dir=args.folder) as name,
        ceph_server(Path(name) / "ceph") as server,
    ):
        folder = Path(name)
        sizes = upload(server, wanted, files, folder)
        proxy = Proxy(server.port, args)
        try:
            for number in range(args.rounds):
                for peer in wanted:
                    local = folder / "local" / f"{peer.module}-{number}"
                    shutil.rmtree(local, ignore_errors=True)
                    told = {
                        "do": "load", "name": peer.name, "bucket": BUCKET, "epochs": 2,
                        "batch_size": args.batch_size, "workers": 2, "local": str(local),
                    }  # fmt: skip
                    if peer.form == "tar":
                        told["urls"] = tar_addresses(server, proxy.address, sizes["tar"][0])
                    variables = environment(server, proxy.address, folder / "tmp" / f"{local.name}")
                    try:
                        epochs = turn(peer, told, variables, proxy)
                    except RuntimeError as error:
                        failed.setdefault(peer.name, []).append(_last_line(error))
                        print(error, flush=True)
                    else:
                        found[peer.name].append(epochs)
                        print(peer.name, json.dumps(epochs), flush=True)
                    shutil.rmtree(local, ignore_errors=True)
        finally:
            proxy.close()
    for name, reasons in failed.items():
        refused[name] = (
            f"{len(reasons)} of {args.rounds} turns failed here, and why was not looked into; "
            f"the last: {reasons[-1]}"
        )
    found = {name: turns for name, turns in found.items() if turns}
    text = report(found, refused, args, files, sizes)
    print(text)
    if args.write:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
