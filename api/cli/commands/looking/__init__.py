"""The commands that look at problems and plans."""
