"""Other processes that pack shards, here or on the nodes of a Ray cluster.

| file | what is in it |
| --- | --- |
| crew.py | hands shards out, and goes on whatever dies |
| worker.py | what a worker does: one shard after another |
| processes.py | workers as processes of this machine |
| on_ray.py | workers as actors of a Ray cluster |
"""
