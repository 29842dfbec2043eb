"""Quick ways to a good placement: block after block (greedy), improving from there (improve), choosing pools (assign), and staying close to an older plan (keep)."""
