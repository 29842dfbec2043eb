"""Runs of a measurement: what is measured, each in a process of its own."""
