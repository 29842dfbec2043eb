"""A sweep through time that keeps many partial placements side by side."""
