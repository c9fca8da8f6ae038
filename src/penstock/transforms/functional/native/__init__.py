"""Kernels of the core: the same results as those in `pillow` and `tensors`, sooner.

Those on Pillow images and arrays are named as the ones that they stand for, take the same
arguments, and hand over to them whatever the core does not do: other modes than L and RGB, and
arguments out of the ordinary.

| file | holds |
|---|---|
| memory.py | where pixels lie, for Pillow images and arrays |
| colour.py, geometry.py, blur.py, conversions.py | kernels on these |
| tried.py | kernels on tensors, tried beside torch's before they are trusted |
| tensors.py | tensors of bytes, by effects and tables |
| tensor_values.py | values and colours of tensors |
| tensor_sampling.py | resizes and warps of tensors |
"""
