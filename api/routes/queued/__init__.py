"""The paths of what is answered later: jobs, batches of them, and what happens to them."""
