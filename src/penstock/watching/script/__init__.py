"""`penstock run`, from inside the script: its loaders, and how it ends."""
