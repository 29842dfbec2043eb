"""What follows from the placements so far, for each block and each clique: one version for plain blocks, one for all others."""
