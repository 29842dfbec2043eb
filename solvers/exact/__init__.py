"""Solvers that end with a proof: memplan's own search, CP-SAT, the integer program."""
