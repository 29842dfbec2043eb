"""What was measured: records, and what follows from them."""
