"""memplan's own input formats: memplan/1, the same with symbols in its sizes, and programs."""
