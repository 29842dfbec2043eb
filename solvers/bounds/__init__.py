"""Lower bounds that hold for all placements: of one pool, of several pools, and by prices."""
