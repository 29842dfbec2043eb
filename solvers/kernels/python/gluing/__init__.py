"""Packing by gluing, as kernels/native/gluing does it."""
