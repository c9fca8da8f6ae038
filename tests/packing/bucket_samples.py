"""Class folders, buckets, and a pack from one to the other, for tests of packing in stores."""

import os
import subprocess
import sys

import penstock as ps
from packing.samples import image_file

QUICK = ps.StorageOptions(
    attempts=12, first_backoff_s=0.01, longest_backoff_s=0.1, stall_s=0.5, request_s=5
)
NAMES = (
    "a-b/1.jpg",
    "a/2.jpg",
    "a/b/3.jpg",
    "a/B.jpg",
    "übung/x y#%41.jpg",
    "z/+&=.JPG",
    "z/0.png",
)


def write_photos(root, names):
    """Write generated images to these paths."""
    for number, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        format = "PNG" if name.endswith(".png") else "JPEG"
        path.write_bytes(image_file(number, (20 + number % 7, 24), format=format))
    return root


def contents(folder):
    """The files of a folder, by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def upload(server, root, prefix):
    """Put all files below a folder into a bucket of the small server."""
    for path in root.rglob("*"):
        if path.is_file():
            name = f"/{prefix}/{path.relative_to(root).as_posix()}"
            server.objects[name] = path.read_bytes()


def penstock(*words, **options):
    """Start the command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "penstock", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(os.environ),
        **options,
    )
