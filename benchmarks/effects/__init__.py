"""Effects one at a time: penstock's kernels, Pillow and OpenCV on the same photos."""
