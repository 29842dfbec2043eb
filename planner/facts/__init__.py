"""What follows from a problem, whoever asks: groups that move together, what uses and moves cost, intervals, a digest."""
