"""The oracle: the same pipelines, slowly, by Pillow, NumPy and OpenCV.

Plain on purpose. Whatever the core produces is compared with this.

| file | does |
|---|---|
| pipeline.py | what a plan means, one image and one move at a time |
| effects.py, filters.py, mix.py | colours and warps; blurs and noise; mixed batches |
| pillow_decode.py | the image that Pillow makes of a file, within the limits |
| libraries/ | Pillow, NumPy and OpenCV behind one interface, as backends of a loader |
"""
