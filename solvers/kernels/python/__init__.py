"""Every kernel again, in plain Python and numpy: slower, same answers."""
