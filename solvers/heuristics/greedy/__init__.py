"""Heuristics that place one block after the other, each at an address that is best at that moment."""
