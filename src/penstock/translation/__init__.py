"""What others wrote, as ours: transforms and whole DataLoaders.

| file | does |
|---|---|
| accelerate.py | `penstock.accelerate`: reads a DataLoader and makes a loader of ours |
| read_batching.py, read_sampler.py | batches, collate functions, samplers |
| datasets/ | the samples of a Dataset: files, labels, boxes |
| tracing/ | what the code of a `__getitem__` does, read as a syntax tree |
| pipeline_builder.py, native_cost.py | the steps from file to tensor |
| read_arrays.py, opencv_files.py | the same for what OpenCV reads |
| transforms/ | torchvision's, timm's and Albumentations' transforms, op by op |
| delivery.py | the loader that stands in for the DataLoader |

Everything is recognised by the names of its classes, so that neither torch nor torchvision is
imported here; whoever has a DataLoader has imported them.
"""
