"""The first study: what the input pipeline costs a training with data augmentation.

| file | does |
|---|---|
| settings.py | what is measured: pipelines, loaders, cores, rounds |
| targets.py | accelerators and models: real, emulated, or several fed by the same cores |
| photos.py | the photos that all loaders load, and how many of them are distinct |
| loaders.py, dali.py | the same pipeline by torchvision, penstock and DALI |
| tasks.py | the measurements, round by round |
| caches.py | a control: caches of decoded and of augmented images |
| results.py | what was measured, and what is predicted from it |
| claims.py, tables.py, figures.py, draw.py | what is concluded and shown, from results alone |
"""
