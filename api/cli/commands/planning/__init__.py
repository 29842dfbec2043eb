"""The commands that plan."""
