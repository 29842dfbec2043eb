"""What a process knows of itself: its machine, how much memory it may take, its logs and metrics, and when it looks for garbage."""
