"""The consequences of the placements so far, for each block and clique: one version for plain blocks, one for all others."""
