"""Packing by gluing pieces together, as in kernels/native/gluing."""
