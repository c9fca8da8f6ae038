"""The second study: what image operations cost in each library, and what their order matters.

| file | does |
|---|---|
| work.py | which operations and chains, on photos of which sizes, how often |
| photos.py | photos of those sizes: made, or fitted from a folder |
| pillow_steps.py | the operations in Pillow; also a program for an interpreter with pillow-simd |
| toolkits.py | the operations in each of the other libraries |
| ours.py | the operations in penstock |
| measure.py | times and differences of pixels |
| detector/ | SSD-300 with a MobileNet backbone in training |
| readings.py | measurements read from the journal |
| claims.py, figures.py | the study's sentences and figures |
| study.py | all of it as one experiment |
"""
