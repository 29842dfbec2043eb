"""Planners of the user's own."""
