"""The second study's chain of five operations in two orders: planned, and as it was written."""
