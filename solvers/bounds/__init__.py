"""Lower bounds of all placements: of one pool, of several, by prices."""
