"""Live progress on stderr during a plan, a measurement or many problems."""
