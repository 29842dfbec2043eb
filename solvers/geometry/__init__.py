"""Geometry of blocks: outlines, distances, overlaps, and smaller equal instances."""
