"""Operators with shapes: which of them run together stripe by stripe, in tiles or whole, what that needs and what it costs."""
