"""Live progress on stderr while a plan, a measurement or many problems are under way."""
