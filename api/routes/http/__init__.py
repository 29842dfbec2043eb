"""What all paths need of HTTP: connections, what may come in, bodies, parameters, answers, and sending them."""
