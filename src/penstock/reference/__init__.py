"""The oracle: the same pipelines, slowly, by Pillow, NumPy and OpenCV.

Plain on purpose. Whatever the core produces is compared with this.

| file | does |
|---|---|
| pipeline.py | what a plan means, one image and one move at a time; mixed batches |
| effects.py, filters.py | colours and warps; blurs, noise and elastic bending |
| libraries/ | Pillow, NumPy and OpenCV behind one interface, as backends of a loader |
"""
