"""memplan's own formats of what is to be planned: memplan/1, the same with symbols in its sizes, and programs."""
