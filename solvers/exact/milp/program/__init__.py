"""The integer program of an instance: its variables, its rows and its objective."""
