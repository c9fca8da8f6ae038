"""The third study's experiment: what a format saves, what an augmentation library, and what both.

| file | does |
|---|---|
| study.py | settings and tasks |
| photos.py | the photos, and the samples that every format gets |
| forms.py | the formats by name, and where each is written |
| writers.py, readers.py | writing each format, and reading it in plain Python as its users do |
| augmentations.py | the study's augmentations, for torchvision and for penstock |
| loaders.py, dali.py | torch's DataLoader and penstock's Loader on each format; DALI's readers |
| storage.py | a simulated disk or network in front of any loader |
| contestant.py, preload.py | one library on one format, measured in a process of its own |
| savings.py | what is concluded: rates, shares of training time saved, claims |
| findings.py, figures.py | tables and words; figures |
"""
