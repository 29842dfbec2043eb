"""The integer program of an instance: variables, rows and objective."""
