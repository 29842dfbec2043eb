"""Exact solvers: memplan's own search, CP-SAT, the integer program."""

EXPORT = "export-model"
"""The name under which these ways refuse to write a model, as the command is called."""
