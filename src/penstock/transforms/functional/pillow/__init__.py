"""Kernels on Pillow images, by plain Pillow calls: what torchvision does, to the byte."""
