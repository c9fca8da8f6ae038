"""`penstock.analyze`: what limits a pipeline, why, and what would change it.

| file | does |
|---|---|
| analyze.py | calls all of what follows, in this order |
| device/ | the accelerator meant, emulated or real, and how busy it is |
| budget.py | a first look, and what fits into the time |
| subject/ | the loader, made anew with something changed |
| rates.py, measure.py, runs.py, cores.py | rates, measured on some of the cores |
| predict.py, predict_checked.py | the model fitted to them, and its errors |
| other_work.py | who else uses the cores |
| cold.py | first epochs |
| facts.py, gather_facts.py, verdict.py | one sentence, and what it rests on |
| sweeps/ | changes tried: cores, layers, sizes, models, forms |
| what_if.py, advice.py, user_code.py | changes thought through, and the line to write |
| environment.py | the machine and the versions |
"""
