"""From a plan and a source of samples to batches."""
