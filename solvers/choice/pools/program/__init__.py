"""The 0-1 program of an instance, which forgets addresses."""
