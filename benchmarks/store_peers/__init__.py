"""Other libraries that read images from a store; each module runs in an environment of its own."""
