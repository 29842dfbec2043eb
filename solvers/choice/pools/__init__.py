"""Several memories: first who goes to which, by a 0-1 program that forgets addresses, then each memory packed."""
