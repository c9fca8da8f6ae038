"""The experiments of three studies, on this machine, with one command each.

| file | does |
|---|---|
| experiment.py | running an experiment: tasks that measure, findings drawn from them |
| journal.py | the measurements in a JSON file, kept as they are made |
| findings.py | claims, tables and figures; as text and Markdown |
| pages.py | the same as files: SVG, Markdown, and one HTML report |
"""
