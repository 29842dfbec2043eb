"""The planners of other systems, by name: the same order, the same choice of a place, the same answers.

Each sees the blocks as its system would (solvers.others.named.rigid): in the user's order, one size and one lifetime per buffer. They prove nothing;
a buffer for which they find no place may well have one.
"""
