"""The learning experiment: does a model learn the same from our batches as from torchvision's?

| file | does |
|---|---|
| batches.py | one augmentation, by torchvision or by penstock, with either's draws |
| training.py | a small model, trained on one thread in a way that can be repeated to the bit |
| study.py | which trainings there are, and how each gets its batches |
| findings.py | what is concluded from them: from the journal alone |
"""
