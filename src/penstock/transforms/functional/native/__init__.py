"""Kernels of the core: the same results as those in `pillow` and `tensors`, sooner.

Those on Pillow images and arrays are named as the ones that they stand for, take the same
arguments, and hand over to them whatever the core does not do: other modes than L and RGB, and
arguments out of the ordinary.

| file | holds |
|---|---|
| memory.py | where pixels lie, for Pillow images and arrays |
| placing.py, geometry.py, colour.py, blur.py, conversions.py | kernels on these |
| tensors/ | kernels on tensors |
"""
