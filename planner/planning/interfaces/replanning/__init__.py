"""Planning a problem that is much like an earlier one: all blocks are placed again, in the order of their earlier addresses."""
