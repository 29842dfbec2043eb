"""Lowers peaks under rules that a plain kernel does not know: it works without them, and its placement is mended."""
