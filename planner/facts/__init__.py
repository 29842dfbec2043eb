"""What follows from any problem: groups that move together, what uses and moves cost, intervals, a digest."""
