"""Every format that a problem or a plan can be written in, a row for each: its name, and how it is recognised, read and written."""
