"""The command line: `main.py` reads it, one file per verb does the work."""
