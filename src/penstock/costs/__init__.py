"""What an image costs: by op, by line of code, by file. `analyze` and `profile` both ask here.

| file | does |
|---|---|
| costs.py | the records: what each part costs, and its share of all |
| ops.py | the ops of a data set or a pipeline: where they are, and what to call them |
| dataset_costs.py | what each op of a Dataset costs, with a clock around it |
| loader_costs.py, plan_variants.py | what each op of a penstock Loader costs, by leaving out ops |
| slow_files.py | the files that take longest |
| code_lines.py | what each line of the user's code costs |
| clocks.py | computing, waiting, and holding Python's lock, told apart |
| profile.py | `penstock profile` |
"""
