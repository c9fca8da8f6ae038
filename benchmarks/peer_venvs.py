"""A virtual environment for each library to compare with, made when it is first asked for.

They are in .venv-peers/ of the checkout, or in $PENSTOCK_PEER_VENVS, which checkouts can share.
Some libraries exclude each other, as Pillow and pillow-simd do, and nobody who works on penstock
needs all of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.dataset import CHECKOUT

HOMES = Path(os.environ.get("PENSTOCK_PEER_VENVS") or CHECKOUT / ".venv-peers").absolute()
PINS = CHECKOUT / "requirements"
SHARED_PINS = ("torch", "torchvision")
READY = "ready"  # a file in an environment that is complete, with a digest of what it was made from
LOG = "install.log"
MOST_OF_A_REASON = 300  # characters


class CannotInstallError(RuntimeError):
    """An environment could not be made."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an environment needs beside requirements/peers/NAME.txt."""

    torch: bool = True
    torchvision: bool = False
    compiled: bool = False  # from NAME-compiled.txt, against what is installed by then
    variables: dict[str, str] = field(default_factory=dict)  # while installing


WITH_TORCHVISION = Recipe(torchvision=True)
RECIPES = {
    "torchvision": WITH_TORCHVISION,
    "pillow_simd": Recipe(torchvision=True, variables={"CC": "cc -mavx2"}),
    "torchcodec": WITH_TORCHVISION,
    "opencv": Recipe(),
    "simplejpeg": Recipe(),
    "albumentations": Recipe(),
    "dali": Recipe(),
    "ffcv": Recipe(compiled=True),
    "tf_data": Recipe(torch=False),
    "spdl": Recipe(),
    "grain": WITH_TORCHVISION,
    "webdataset": WITH_TORCHVISION,
    "streaming": WITH_TORCHVISION,
    "litdata": WITH_TORCHVISION,
}


def python_of(name: str, say: Callable[[str], None]) -> str:
    """Return the interpreter of an environment, which is made if it is not there as pinned."""
    home = HOMES / name
    python = home / "bin" / "python"
    digest = digest_of(name)
    ready = home / READY
    if ready.exists() and ready.read_text(encoding="utf-8") == digest:
        return str(python)
    say(f"making the environment of {name} in {home}")
    if home.exists():
        shutil.rmtree(home)
    home.mkdir(parents=True)
    with (home / LOG).open("w", encoding="utf-8") as log:
        variables = {**os.environ, **RECIPES[name].variables}
        for words in steps_of(name, python):
            log.write(f"$ {' '.join(words)}\n")
            log.flush()
            done = subprocess.run(
                words, stdout=log, stderr=subprocess.STDOUT, check=False, env=variables
            )
            if done.returncode:
                raise CannotInstallError(
                    f"{name}: cannot be installed: {reason_in(home / LOG)} "
                    f"({home / LOG} has it all)"
                )
    ready.write_text(digest, encoding="utf-8")
    return str(python)


def steps_of(name: str, python: Path) -> list[list[str]]:
    """Return the commands that make an environment."""
    recipe = RECIPES[name]
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install"]
    steps = [[sys.executable, "-m", "venv", str(python.parent.parent)]]
    torch = ["-c", str(PINS / "torch.txt")]
    if recipe.torch:
        # First, and on its own: another package that asks for it might bring gigabytes of it.
        steps.append([*pip, "-r", str(PINS / "torch.txt")])
    steps.append([*pip, *(torch if recipe.torch else []), "-r", str(_pins(name))])
    if recipe.torchvision:
        # Without what it asks for, which is another build of torch.
        steps.append([*pip, "--no-deps", "-r", str(PINS / "torchvision.txt")])
    if recipe.compiled:
        file = _pins(f"{name}-compiled")
        steps.append([*pip, "--no-deps", "--no-build-isolation", "-r", str(file)])
    return steps


def digest_of(name: str) -> str:
    """Return what changes when an environment would be made otherwise."""
    texts = [repr(RECIPES[name]), sys.version]
    texts += [path.read_text(encoding="utf-8") for path in sorted(PINS.glob(f"peers/{name}*.txt"))]
    texts += [(PINS / f"{one}.txt").read_text(encoding="utf-8") for one in SHARED_PINS]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def reason_in(log: Path) -> str:
    """Return the line of a failed installation that most likely says why."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").split("\n")]
    for word in ("error: ", "Error: ", "ERROR: "):
        found = [line for line in lines if word in line and "subprocess-exited" not in line]
        if found:
            return found[0][:MOST_OF_A_REASON]
    return _last(lines)


def _last(lines: Sequence[str]) -> str:
    spoken = [line for line in lines if line]
    return spoken[-1][:MOST_OF_A_REASON] if spoken else "no reason given"


def _pins(name: str) -> Path:
    return PINS / "peers" / f"{name}.txt"
