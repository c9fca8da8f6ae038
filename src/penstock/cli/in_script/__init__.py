"""What Python reads before a script: `penstock run` puts this folder on its path for a moment.

It has a folder of its own because everything beside it can be imported by name in that moment.
"""
