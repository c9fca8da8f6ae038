"""What an image costs: by op, by line of code, by file.

| file | does |
|---|---|
| costs.py | the records, and what shares of a pipeline's time they make up |
| torch_costs.py, timed_op.py | a torch Dataset, its ops and its collate function |
| penstock_costs.py, plan_variants.py, like_loader.py | a penstock Loader, by leaving out ops |
| thread_clock.py, interpreter.py | computing, waiting, and holding Python's lock, told apart |
| slow_files.py | the files that take longest |
| profile.py, ops.py, steps.py, result.py | `penstock profile` |
| dataset.py, ours.py, call_timer.py, code_lines.py | what it looks at, and by which clock |
| library_threads.py | the threads of OpenCV and torch |
"""
