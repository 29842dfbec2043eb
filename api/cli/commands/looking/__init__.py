"""The commands that look at problems, plans, and memplan itself."""
