"""Reading, writing and drawing on the terminal."""
