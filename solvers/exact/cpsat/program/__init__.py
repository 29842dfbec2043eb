"""The constraint model of an instance: its variables, its constraints and its objective."""
