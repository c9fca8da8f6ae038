"""One thread for the libraries that would take more, as in the worker processes of a DataLoader."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and OpenCV, where they are imported, to one thread."""
    torch, cv2 = sys.modules.get("torch"), sys.modules.get("cv2")
    torch_threads = torch.get_num_threads() if torch else 0
    cv2_threads = cv2.getNumThreads() if cv2 else 0
    try:
        if torch:
            torch.set_num_threads(1)
        if cv2:
            cv2.setNumThreads(1)
        yield
    finally:
        if torch:
            torch.set_num_threads(torch_threads)
        if cv2:
            cv2.setNumThreads(cv2_threads)
