"""The samples of a torch Dataset: which files, which labels, which targets."""
