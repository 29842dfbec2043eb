"""The plan of a problem much like one before: all blocks placed once more, in the order of the addresses that they had."""
