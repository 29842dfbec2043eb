"""Curves: over time while a plan was made, over costs, over shapes and over sizes of memory."""
