"""Decides which solver works on what, and when: from an instance to an outcome."""
