"""The common parts of all paths: connections, admission, bodies, parameters, answers, and sending them."""
