"""The runs of a measurement: what is measured, each in its own process."""
