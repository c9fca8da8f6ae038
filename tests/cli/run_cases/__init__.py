"""Scripts that must do the same under `penstock run` as under `python`, by topic.

Each module holds `CASES`: the name of a case, and its script, or a `Case` where there is more to it
than a script without arguments. What a script prints must not depend on the moment or on the
process: no addresses, no process ids, no times.
"""
