"""The user's own planners."""
