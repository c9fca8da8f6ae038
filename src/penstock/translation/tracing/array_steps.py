"""What a Dataset's own code does to turn a file or an image into a NumPy array."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class AsArray:
    """`np.array(image)`: a Pillow image becomes height x width x 3 bytes."""

    def __repr__(self) -> str:
        return "np.array(image)"


@dataclass(frozen=True, slots=True, repr=False)
class ReadByOpenCV:
    """`cv2.imread(path)`, an array from the start; blue comes first until cv2.cvtColor."""

    blue_first: bool

    def __repr__(self) -> str:
        return "cv2.imread(path)"
