"""memplan/1, the format of problems: its types, reading, writing, and its schema."""
