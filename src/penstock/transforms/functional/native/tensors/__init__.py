"""Kernels of the core on tensors. Every module here imports torch.

| file | holds |
|---|---|
| tried.py | which tensors the core takes; kernels are tried beside torch's first |
| tables.py | bytes, by the effects that give torchvision's bits too, and by tables |
| values.py | values and colours |
| sampling.py | resizes and warps |
"""
