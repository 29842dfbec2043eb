"""Whole blocks in several memories, for large problems: from a choice for bytes that may be anywhere to one with a memory for each block."""
