"""The store over SQL databases: its tables, and each query and change as statements."""
