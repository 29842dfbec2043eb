"""From the kernel's arrays to the search's model: which blocks move, which distances they keep, and which are live together."""
