"""How many threads torch and OpenCV take for themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def library_threads(most: int) -> Iterator[None]:
    """Keep torch and OpenCV, where they are imported, to so many threads.

    Left alone, threads for all cores of the machine wait for each other on the few they may use.
    """
    torch, cv2 = sys.modules.get("torch"), sys.modules.get("cv2")
    torch_threads = torch.get_num_threads() if torch else 0
    cv2_threads = cv2.getNumThreads() if cv2 else 0
    try:
        if torch:
            torch.set_num_threads(min(most, torch_threads))
        if cv2:
            cv2.setNumThreads(min(most, cv2_threads))
        yield
    finally:
        if torch:
            torch.set_num_threads(torch_threads)
        if cv2:
            cv2.setNumThreads(cv2_threads)
