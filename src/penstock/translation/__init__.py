"""What others wrote, as ours: transforms so far. See `transforms/`."""
