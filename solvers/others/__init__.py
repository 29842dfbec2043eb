"""Planners of other systems: their methods (named), the planners themselves (peers), and those of users."""
