"""Glues what fits together exactly, and searches for a place for the few pieces that are left."""
