"""The store over SQL databases: its tables, and each question and each change as statements."""
