"""A process's own affairs: its machine, its memory limits, its logs and metrics, and garbage collection."""
