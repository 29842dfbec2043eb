"""A program as it runs: its memory, the ticks at which each step runs, and when each tensor is needed."""
