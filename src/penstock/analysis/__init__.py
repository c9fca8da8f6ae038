"""`penstock.analyze`: what limits a pipeline, why, and what would change it.

| file | does |
|---|---|
| analyze.py | calls all that follows, in this order |
| device/ | the accelerator meant, emulated or real, and how busy it is |
| subject/ | the loader, made anew with something changed |
| budget.py | a first look, and what fits into the time |
| rates.py, measure.py | rates, measured on some of the cores |
| rate_model.py | the model fitted to them, what it predicts, and how far that was off |
| machine.py | the machine, and how much of it other programs used |
| cold_cache.py | first epochs, and files that are not in memory |
| verdict.py | one sentence, and what it rests on |
| sweeps/ | changes tried: layers, sizes, models, accelerators, alternatives |
| what_if.py, advice.py, user_code.py | what the model predicts, advice, the line to write |
"""
