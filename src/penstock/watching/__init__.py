"""Watching a training loop from outside: does it wait for its data, and for what?

| file | does |
|---|---|
| watch.py, step_times.py | `penstock.watch`: a loader with a clock |
| script.py | `penstock run`: the loaders of a script, and its end |
| ranks.py | several processes that train together: one verdict, and the straggler |
| trace.py, ranges.py | every wait and step, for Perfetto, and as NVTX ranges |
| nvml.py | how busy an NVIDIA GPU is |
| frames.py | tells from a thread's stack what it is doing |
| sampler.py, sampling.py | look at the loop and its workers some 50 times per second |
| inside.py, shared_cores.py | shares of a loader's time; who takes the cores |
| loader_facts.py | what any loader says of itself, and the images in a batch |
| verdict.py, report.py | the cause, and how it is said |
"""
