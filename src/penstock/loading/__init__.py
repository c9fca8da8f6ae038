"""The runtime: which samples make a batch, and their way through the core into it.

| file | does |
|---|---|
| loader.py, options.py | the `Loader`, and its options, checked |
| selection.py, sampler.py, ranks.py | the samples of an epoch, their order, each rank's share |
| sampling/ | buckets, balanced classes, repeats, weights, folds |
| epoch.py, cuts.py | batches in their order, prepared ahead by threads |
| share.py | one rank's batches of an epoch, all that are left or one by its number |
| again.py, past_batch.py | any batch made again, with what was drawn for it |
| witness.py, levels.py | what runners tell of draws; finished values as levels |
| random_access.py | samples that somebody else chooses, one by one or in batches |
| runner.py, fetch.py, native.py | a part of a batch, and its way through the core |
| native_views.py | the same for several views of each sample |
| library_runner.py | the same by Pillow, OpenCV or NumPy, as reference |
| part_targets.py | targets and masks, which follow their images |
| python_calls.py | functions of the user's among the transforms |
| failures.py | damaged files: raise, skip or substitute; the ledger |
| batch.py, mix.py, deliver.py, yolo_batch.py | a batch: its memory, MixUp, what is handed over |
| to_library.py, to_torch.py, to_jax.py | the same as arrays of torch, JAX or NumPy |
"""
