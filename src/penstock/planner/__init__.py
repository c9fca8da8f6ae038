"""From what the user wrote to what will be done.

`plan` cuts a pipeline into stretches that the core can run, `rules` may rewrite them, `lower` makes
programs for the core of what was drawn, and `pillow_order` knows in which order Pillow resizes.
"""
