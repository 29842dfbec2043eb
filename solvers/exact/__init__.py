"""Ways of solving that end with a proof: our own search, CP-SAT, the integer program."""
