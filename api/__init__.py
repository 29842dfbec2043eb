"""How people and programs reach the planner: the command line, and later the HTTP service and its page."""
