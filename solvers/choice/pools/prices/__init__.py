"""Prices on room: the linear program that makes them, what crowds prove at them, and the certificate of it."""
