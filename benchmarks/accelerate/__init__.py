"""DataLoaders of common recipes, before and after `penstock.accelerate`."""
