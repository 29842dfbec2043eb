"""Local search over assignments: which block goes to which pool, with the placement worked out anew for every change."""
