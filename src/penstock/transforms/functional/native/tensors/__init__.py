"""Kernels of the core on tensors. Every module here imports torch.

| file | holds |
|---|---|
| tried.py | which tensors the core takes; kernels are tried beside torch's first |
| values.py | values, each by itself or by the range of its plane |
| colours.py | the colours of pixels |
| tables.py | bytes, by the effects that give torchvision's bits too |
| placing.py | parts of images, and borders |
| sampling.py | resizes and warps |
"""
