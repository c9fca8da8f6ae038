"""Looking inside a loader while somebody's script runs: which part of it takes the time?

| file | does |
|---|---|
| frames.py | tells from a thread's stack what it is doing |
| sampler.py | looks at a thread some 50 times per second, and adds up what it saw |
| sampling.py | samples the training loop and, through torch's hook, its worker processes |

Nothing here judges: penstock.analysis.watch_verdict does.
"""
