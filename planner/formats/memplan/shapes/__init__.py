"""Problems whose sizes depend on symbols, and their plans, as JSON."""
