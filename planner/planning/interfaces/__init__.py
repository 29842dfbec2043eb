"""Other ways to ask for a plan: columns of numbers, one call for compilers, a session that remembers, the integer program itself."""
