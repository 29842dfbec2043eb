"""A program as it runs: which memory it has, at which ticks each step runs, and when each tensor is needed."""
