"""A program as it runs: what memory there is, at which ticks each step comes by, and when each tensor is needed."""
