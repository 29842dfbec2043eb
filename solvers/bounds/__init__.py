"""How low no placement can be: of one pool, of several, by prices."""
