"""Posted requests: the endpoint, the options and the problem."""
