"""The SQL databases that hold a store: SQLite in one file, and PostgreSQL for several processes."""
