"""A better order of somebody's own torchvision transforms: found by rules, measured in torchvision.

| file | does |
|---|---|
| steps.py | what is known about each op of a list: which pixels it looks at, which sizes it makes |
| rules.py | which two ops may change places, what that changes, and why |
| inputs.py | images as they enter the list: of a DataLoader, a Dataset, or files |
| trials.py | runs lists in several orders with the same draws, and times them in turn |
| as_code.py | a list of ops as Python source |
| explain.py | `penstock.explain` |
| explanation.py | what it returns, and how that is told |
"""
