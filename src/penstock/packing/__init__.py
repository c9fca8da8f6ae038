"""Packed data sets: one `.pen` file, or a folder of them, instead of a million small ones."""
