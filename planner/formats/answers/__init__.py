"""What memplan answers, as files: plans, sharings, reports and maps."""
