"""Prices on room in several pools: what they prove, and how they are found."""
