"""What was posted: at which door, with which options, and which problem."""
