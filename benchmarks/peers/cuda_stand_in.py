"""Lets the image decoders of torchvision and torchcodec load beside a torch without CUDA.

Their Linux wheels are linked against CUDA libraries that such a torch does not have, though
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
LIBRARIES = ("libc10_cuda.so", "libtorch_cuda.so", "libnvrtc.so.13")
CUDA_SYMBOL = re.compile(rb"_ZNK?(?:3c10|2at)4cuda\w+|aoti_torch_get_current_cuda_stream")


def load_stand_in(package: str = "torchvision", extension: str = "image.so") -> None:
    """Load the libraries into this process. Requires a C compiler, as building penstock does.

    Raises ModuleNotFoundError where this cannot be done, since without it a peer is missing.
    """
    for library in _build(package, extension):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _build(package: str, extension: str) -> list[Path]:
    """Return the libraries; built anew only if the package asks for other symbols than before."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {package!r}")
    content = (Path(spec.origin).parent / extension).read_bytes()
    symbols = sorted({match.decode() for match in CUDA_SYMBOL.findall(content)})
    text = "".join(f'char s{n}[64] __asm__("{name}");\n' for n, name in enumerate(symbols))
    folder = FOLDER / package
    source = folder / "stand_in.c"
    targets = [folder / name for name in LIBRARIES]
    if source.exists() and source.read_text() == text and all(path.exists() for path in targets):
        return targets
    folder.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    for target in targets:
        soname = f"-Wl,-soname,{target.name}"
        command = ["cc", "-shared", "-fPIC", soname, "-o", str(target), str(source)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ModuleNotFoundError(
                f"{package}'s decoders need CUDA, or a C compiler to do without: {error}"
            ) from error
    return targets
