"""Images that are not decoded yet, for code that penstock does not know.

| file | what is in it |
| --- | --- |
| chain.py | an image file and what is to be done with it, as a value |
| chain_moves.py, programs.py | what many chains, or one, are for the core |
| carry_out.py | many chains at once, in the core |
| image.py, file_image.py | a chain that is a Pillow image to everybody, and what its file says |
| pixel_access.py | pixels as Pillow keeps them |
| tensor.py, spec.py | one that is a tensor to everybody, and how its values are made |
| rows.py | tensors that lie in one batch already, and how they are collated |
| samples.py | finds both in the samples of a batch, and has them made |
| opening.py | what `Image.open` and its like give while a Dataset is asked |
| hooks.py, torchvision_hooks.py | how others come to ask us |
| torchvision_tensors.py, torchvision_changes.py | what torchvision does to such tensors |
| torchvision_draws.py | what torchvision draws, for less |
| borders.py | what `pad` adds |
| random_state.py | all generators that a Dataset draws from, put back where they were |
| dataset.py | a Dataset around the user's, which does all that for a whole batch |
| counts.py | who asked for pixels too early |
"""
