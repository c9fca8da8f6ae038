"""The loader under analysis, torch's or ours, made anew with something changed."""
