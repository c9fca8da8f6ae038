"""What the code of a `__getitem__` or a collate function does, read as a syntax tree."""
