"""The commands that make files of problems and plans."""
