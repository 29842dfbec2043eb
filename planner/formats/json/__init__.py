"""JSON from outside, strictly read, and JSON for outside, a line for each thing."""
