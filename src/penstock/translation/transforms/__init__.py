"""Transforms of torchvision, timm and Albumentations read, and put together from ours.

Everything is recognised by the names of its classes, so that none of these libraries is imported
here; whoever has a transform of theirs has imported it. This needs transforms and the planner
only, so that the loader can use it.
"""
