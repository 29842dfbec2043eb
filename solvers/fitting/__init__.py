"""Puts blocks one after another where they fit: in which order, into which gap, in which pool."""
