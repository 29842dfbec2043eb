"""Quick ways to a good placement: one block after the other (greedy), then better from there (improve), and which block goes to which pool (assign)."""
