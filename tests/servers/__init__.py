"""Servers for tests: a small one of our own, real ones where they can be had, and a bad network."""
