"""What a plan does with memory, and why it cannot fit or cannot be smaller."""
