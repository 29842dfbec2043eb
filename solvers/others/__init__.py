"""Other people's planners: their methods (named), themselves (peers), and those of users."""
