"""What a plan does with memory, and why nothing fits or nothing smaller can."""
