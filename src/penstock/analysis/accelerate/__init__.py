"""Torch DataLoaders read, and translated into loaders that give the same batches.

Everything is recognised by the names of its classes, so that neither torch nor torchvision is
imported here; whoever has a DataLoader has imported them.
"""
