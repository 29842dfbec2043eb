"""Local search over which block goes to which pool; the placement is recomputed after every change."""
