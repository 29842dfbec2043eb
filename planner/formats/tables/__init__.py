"""Every format of problems and plans, a row for each: its name, and how it is recognised, read and written."""
