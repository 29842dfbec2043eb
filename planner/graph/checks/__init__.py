"""Checks that a graph or a program is sound in itself."""
