"""What follows from a problem, whoever asks: groups that move together, what access costs, intervals, a digest."""
