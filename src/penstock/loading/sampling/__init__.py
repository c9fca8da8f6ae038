"""Which samples an epoch has, where that is more than an order of all of them.

| file | does |
|---|---|
| sampling.py, select.py | what all of these share; what a `Loader` was asked for |
| facts.py | how many samples, labels and image sizes a data set has |
| weighted.py | samples drawn by weight |
| balanced.py | classes equally often |
| repeated.py | each sample several times in a row, spread over the ranks |
| buckets.py, bucket_epochs.py | batches of images of one size |
| bound.py | all of these as samplers of a torch DataLoader |
| splits.py | folds and random parts of a data set |
"""
