"""Imports what takes long, for the process that all contestants' processes are forked from."""

from contextlib import suppress

from penstock.demo.torchvision_import import import_torchvision

with suppress(ImportError):  # whoever needs it will say so
    import_torchvision()
