"""How people and programs reach the planner: the command, the HTTP service, and its page."""
