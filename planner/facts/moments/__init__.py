"""Lifetimes for problems that only say which buffers conflict: moments, each with buffers that conflict pairwise."""
