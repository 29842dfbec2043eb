"""Searches that ask a program one question after another: for heights, peaks, limits and floors."""
