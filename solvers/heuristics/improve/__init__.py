"""Improves a placement by moving what defines its peak; everything else stays where it is."""
