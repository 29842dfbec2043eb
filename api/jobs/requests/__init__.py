"""Posted requests: the door, the options and the problem."""
