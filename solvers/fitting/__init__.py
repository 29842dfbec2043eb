"""Places blocks one after another where they fit: in which order, in which gap, in which pool."""
