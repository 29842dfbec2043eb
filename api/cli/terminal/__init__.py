"""What a command reads, writes and draws on the terminal."""
