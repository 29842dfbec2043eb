"""Sharings and their reports, as JSON."""
