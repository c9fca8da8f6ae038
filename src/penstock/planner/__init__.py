"""From what the user wrote to what will be done.

`plan` cuts a pipeline into segments that the core can run, `lower` turns what was drawn into
programs for the core, and `pillow_order` knows in which order Pillow resizes. `rules` is the place
for rules that rewrite a plan; there are none yet.
"""
