"""Watching a training loop from outside: does it wait for its data, and for what?

| file | does |
|---|---|
| watch.py, step_times.py, live_line.py | `penstock.watch`: a loader with a clock |
| script/ | `penstock run`: loaders found in a script, and its end |
| frames.py | tells from a thread's stack what it is doing |
| sampler.py, sampling.py | look at the loop and its workers some 50 times per second |
| inside.py, shared_cores.py | shares of a loader's time; who takes the cores |
| verdict.py, report.py, loader_facts.py | the cause, and how it is said |
| batch_images.py | how many images a batch has |
"""
