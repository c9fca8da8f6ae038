"""The command line: `main.py` reads it, one file a verb does the work."""
