"""The words that users see: problems, plans, sharings, findings and errors, and the versions that plans carry."""
