"""Sharings and what they do with memory, as JSON."""
