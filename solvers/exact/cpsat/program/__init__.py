"""The constraint model of an instance: variables, constraints and objective."""
