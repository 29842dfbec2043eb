"""The steps from one version of the store's tables to the next, for alembic."""
