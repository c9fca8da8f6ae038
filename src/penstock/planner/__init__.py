"""From what the user wrote to what will be done.

| file | does |
|---|---|
| plan.py | cuts a pipeline into segments that the core can run, and draws their moves |
| draft.py, access.py | the form in which rules see what was drawn; a verifier |
| rules/ | rewrite what was drawn into what costs less |
| search.py | chooses the rules that cost least together |
| work.py, effect_work.py, amounts.py, prices.py | what a program costs on this machine |
| explain.py | the plan in tables that people read |
| lower.py, pillow_order.py | programs for the core, with resizes as Pillow does them |
| views.py | several views of a sample: which of them share a decode |
| reuse.py | using the first part of the work again |
"""
