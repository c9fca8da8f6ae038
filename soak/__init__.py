"""Random pipelines for an hour, with kills, faults and closes mixed in; `make soak` runs it.

data_sets.py   what is loaded and packed: small data sets of every kind, made anew
pipelines.py   a random pipeline over one of them
child.py       what runs in child processes: loaders that tell a checksum of every batch
children.py    starts children, waits for them, and judges how they ended
loading.py     the kinds of configurations that load, and what must hold for each
packing.py     the kinds that pack
faults.py      the kinds whose input and output fails at random (io_faults.c)
ray.py         workers of penstock.ray, killed: a command of its own
ray_nodes.py   nodes of its cluster, taken away: the same
results.py     counts, the table, and the lines that repeat a failure
"""
