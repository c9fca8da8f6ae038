"""Images that are not decoded yet, for code that penstock does not know.

| file | what is in it |
| --- | --- |
| chain.py | an image file and what is to be done with it, as a value |
| carry_out.py | many chains at once, in the core |
| chain_moves.py, programs.py | what the core is asked to do for them |
| image.py | a chain that is a Pillow image to everybody, and what is remembered of it |
| pixel_image.py, file_image.py | how its pixels come to be, and what its file says |
| resizing.py, filters.py | what calls of Pillow's `resize` and `filter` ask for |
| canvases.py | images of one colour, and what is pasted into them |
| pixel_access.py | pixels as Pillow keeps them |
| tensor.py, spec.py | one that is a tensor to everybody, and how its values are made |
| array.py, array_index.py | one that is NumPy's array to everybody, and parts of it |
| array_base.py, array_memory.py | what others may know of it, and how they get its values |
| array_operators.py | its operators |
| values.py | what arithmetic makes of an image's levels |
| family.py | arrays and tensors that share memory |
| array_functions.py, tensor_functions.py | what NumPy's and torch's functions do to them |
| rows.py | tensors that lie in one batch already, and how they are collated |
| sending.py | what workers send, in memory that is used again |
| samples.py | finds both in the samples of a batch, and has them made |
| opening.py | what `Image.open` and its like give while a Dataset is asked |
| hooks.py, pillow_hooks.py, torch_hooks.py, torchvision_hooks.py | how others come to ask us |
| opencv_hooks.py, opencv_changes.py | the same for OpenCV, and what it does to such arrays |
| albumentations_hooks.py | the same for Albumentations |
| torchvision_tensors.py, torchvision_changes.py | what torchvision does to such tensors |
| torchvision_draws.py | what its transforms draw, sooner |
| borders.py | what borders are remembered |
| random_state.py | all generators that a Dataset draws from, put back where they were |
| dataset.py | a Dataset around the user's, which does all that for a whole batch |
| counts.py | who asked for pixels too early |
"""
