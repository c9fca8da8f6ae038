"""The accelerator: emulated or real, chosen, timed, and how busy it is."""
