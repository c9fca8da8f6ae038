"""Kernels of the core for images of bytes: the same results as those in `pillow`, sooner.

Each is named as the one that it stands for, takes the same arguments, and hands over to it
whatever the core does not do: other modes than L and RGB, and arguments out of the ordinary.
"""
