"""Quick ways to a good placement: one block after the other (greedy), then better from there (improve), which block goes to which pool (assign), and close to an older plan (keep)."""
