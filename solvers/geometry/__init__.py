"""Blocks beside each other: outlines, distances, overlaps, and instances made smaller."""
