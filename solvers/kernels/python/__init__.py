"""All kernels in plain Python and numpy: slower, with the same answers as the native ones."""
