"""From the kernel's arrays to the search's own view of them: which blocks move, which distances they keep, and which are live together."""
