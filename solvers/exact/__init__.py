"""Exact solvers: memplan's own search, CP-SAT, the integer program."""
