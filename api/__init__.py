"""The ways to reach the planner: the command, the HTTP service, and its page."""
