"""Somebody else's transforms and whole DataLoaders, as ours.

| file | does |
|---|---|
| accelerate.py | `penstock.accelerate`: reads a DataLoader and makes a loader of ours |
| dataloader.py | batches, collate functions, samplers, options |
| datasets/ | what a Dataset holds: files, labels, boxes |
| tracing/ | what the code of a `__getitem__` does, read as a syntax tree |
| pipeline_builder.py | the steps from file to tensor, for Pillow and for OpenCV |
| transforms/ | torchvision's, timm's and Albumentations' transforms, op by op |
| delivery.py | the loader that stands in for the DataLoader |

Everything is recognised by the names of its classes, so that neither torch nor torchvision is
imported here; whoever has a DataLoader has imported them.
"""
