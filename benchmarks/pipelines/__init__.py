"""The pipelines of examples/pipelines: penstock on a packed file, torchvision on the files."""
