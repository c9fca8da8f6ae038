"""Lets torchvision's image decoders load beside a torch without CUDA.

torchvision's Linux wheel is linked against CUDA libraries that such a torch does not have, though
decoding on the CPU calls nothing in them. Libraries of the same names, in which the symbols exist
but do nothing, are enough for the loader.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from benchmarks.dataset import CHECKOUT

FOLDER = CHECKOUT / "build" / "cuda_stand_in"
LIBRARIES = ("libc10_cuda.so", "libtorch_cuda.so")
CUDA_SYMBOL = re.compile(rb"_ZNK?(?:3c10|2at)4cuda\w+")


def load_stand_in() -> None:
    """Load the libraries into this process. Requires a C compiler, as building penstock does.

    Raises ModuleNotFoundError where this cannot be done, since without it a peer is missing.
    """
    for library in _build():
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _build() -> list[Path]:
    """Return the libraries; built anew only if torchvision asks for other symbols than before."""
    spec = find_spec("torchvision")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'torchvision'")
    extension = (Path(spec.origin).parent / "image.so").read_bytes()
    symbols = sorted({match.decode() for match in CUDA_SYMBOL.findall(extension)})
    text = "".join(f'char s{n}[64] __asm__("{name}");\n' for n, name in enumerate(symbols))
    source = FOLDER / "stand_in.c"
    targets = [FOLDER / name for name in LIBRARIES]
    if source.exists() and source.read_text() == text and all(path.exists() for path in targets):
        return targets
    FOLDER.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    for target in targets:
        soname = f"-Wl,-soname,{target.name}"
        command = ["cc", "-shared", "-fPIC", soname, "-o", str(target), str(source)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ModuleNotFoundError(
                f"torchvision's decoders need CUDA, or a C compiler to do without: {error}"
            ) from error
    return targets
